/* Lock files that a crash left behind. The rule: a lock is stale when it is older than ten minutes,
 * no process has it open, and no git process works in the folder (git closes index.lock while it
 * waits for the editor, so an open descriptor is not enough to go by). Anything else is somebody's.
 */
#include "history_core.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STALE_SECONDS = 600 };

static bool has_open(const char *process, const char *path)
{
    char folder[64], link[PATH_MAX], target[PATH_MAX];
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", process);
    DIR *dir = opendir(folder);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        snprintf(link, sizeof link, "%s/%s", folder, entry->d_name);
        ssize_t len = readlink(link, target, sizeof target - 1);
        if (len > 0) {
            target[len] = '\0';
            found = strcmp(target, path) == 0;
        }
    }
    if (dir)
        closedir(dir);
    return found;
}

static bool is_git_in(const char *process, const char *work)
{
    char path[64], target[PATH_MAX] = "";
    snprintf(path, sizeof path, "/proc/%.20s/comm", process);
    FILE *file = fopen(path, "re");
    char comm[32] = "";
    if (file) {
        if (!fgets(comm, sizeof comm, file))
            comm[0] = '\0';
        fclose(file);
    }
    if (strncmp(comm, "git", 3) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%.20s/cwd", process);
    ssize_t len = readlink(path, target, sizeof target - 1);
    size_t have = strlen(work);
    return len > 0 && strncmp(target, work, have) == 0 &&
           (target[have] == '\0' || target[have] == '/');
}

static bool is_in_use(const char *path, const char *work)
{
    DIR *proc = opendir("/proc");
    bool used = proc == NULL; /* without /proc nothing can be known */
    for (struct dirent *entry; proc && !used && (entry = readdir(proc));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            used = has_open(entry->d_name, path) || is_git_in(entry->d_name, work);
    if (proc)
        closedir(proc);
    return used;
}

static bool clear_lock(const char *path, const char *work, struct err *notice, struct err *err)
{
    struct stat info;
    if (lstat(path, &info) != 0)
        return true;
    int64_t age_s = (int64_t)time(NULL) - info.st_mtim.tv_sec;
    if (age_s < STALE_SECONDS || is_in_use(path, work))
        return err_set(err,
                       _("another git command seems to be at work: %s exists. If none is, remove "
                         "that file"),
                       path);
    if (unlink(path) != 0 && errno != ENOENT)
        return err_set(err, _("%s was left behind by a crash and can't be removed: %s"), path,
                       strerror(errno));
    history_tell(notice, _("removed %s, which a crash had left behind (%lld minutes old)."), path,
                 (long long)(age_s / 60));
    return true;
}

bool history_clear_locks(const char *git_dir, const char *work, const char *branch,
                         struct err *notice, struct err *err)
{
    const char *const names[] = {"index.lock", "HEAD.lock", "packed-refs.lock"};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof names / sizeof *names; i++) {
        char *path = path_join(git_dir, names[i]);
        ok = clear_lock(path, work, notice, err);
        free(path);
    }
    if (ok && branch) {
        char *path = mem_printf("%s/%s.lock", git_dir, branch);
        ok = clear_lock(path, work, notice, err);
        free(path);
    }
    return ok;
}
