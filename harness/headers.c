#include "headers.h"

#include "harness/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PREFIX "stride-headers-"

static const unsigned long long ROOM_BYTES = 1ull << 30;

static bool is_large(const char *source)
{
    static const char *const signs[] = {"#include <cuda/", "#include <cooperative_groups",
                                        "#include <cub/"};
    for (size_t i = 0; source && i < sizeof signs / sizeof *signs; i++)
        for (const char *at = source; (at = strstr(at, signs[i])); at++)
            if (strncmp(at, "#include <cuda/std/", 19) != 0)
                return true;
    return false;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

/* Folders of this user whose process is gone. */
static void sweep(const char *temporary)
{
    DIR *dir = opendir(temporary);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        int pid;
        if (sscanf(entry->d_name, PREFIX "%d-", &pid) != 1 || pid <= 0)
            continue;
        char *folder = path_join(temporary, entry->d_name);
        struct stat info;
        if (lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
            kill(pid, 0) != 0 && errno == ESRCH)
            remove_folder(folder);
        free(folder);
    }
    if (dir)
        closedir(dir);
}

void headers_open(struct headers *out, const struct compiler_abilities *nvrtc, const char *source)
{
    const char *temporary = getenv("TMPDIR");
    temporary = temporary && *temporary == '/' ? temporary : "/tmp";
    *out = (struct headers){0};
    struct statvfs disk;
    bool new_enough = nvrtc->major > 12 || (nvrtc->major == 12 && nvrtc->minor >= 8);
    if (!new_enough || !is_large(source))
        return;
    sweep(temporary);
    if (statvfs(temporary, &disk) != 0 ||
        (unsigned long long)disk.f_bavail * disk.f_frsize < ROOM_BYTES)
        return;
    char *folder = mem_printf("%s/" PREFIX "%d-XXXXXX", temporary, (int)getpid());
    if (mkdtemp(folder))
        out->folder = folder;
    else
        free(folder);
}

void headers_close(struct headers *headers)
{
    if (headers->folder)
        remove_folder(headers->folder);
    free(headers->folder);
    *headers = (struct headers){0};
}
