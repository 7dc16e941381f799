#include "scratch.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "stride-harness-"

/* Folders of this user whose process is gone. */
static void sweep(const char *place)
{
    DIR *dir = opendir(place);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        int pid;
        struct stat info;
        if (sscanf(entry->d_name, PREFIX "%d-", &pid) != 1 || pid <= 0)
            continue;
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISDIR(info.st_mode) || info.st_uid != geteuid() || kill(pid, 0) == 0 ||
            errno != ESRCH)
            continue;
        char *folder = path_join(place, entry->d_name);
        file_remove_folder(folder);
        free(folder);
    }
    if (dir)
        closedir(dir);
}

char *scratch_make(struct err *err)
{
    sweep(path_temporary());
    char *folder = mem_printf("%s/" PREFIX "%d-XXXXXX", path_temporary(), (int)getpid());
    if (mkdtemp(folder))
        return folder;
    err_set(err, _("cannot make a folder to work in: %s: %s"), folder, strerror(errno));
    free(folder);
    return NULL;
}
