#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_read(struct buf *out, const char *path, size_t most, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set(err, "cannot read %s: %s", path, strerror(errno));
    struct stat info;
    bool ok = true;
    if (fstat(fd, &info) == 0 && !S_ISREG(info.st_mode))
        ok = err_set(err, "cannot read %s: not a regular file", path);
    size_t total = 0;
    while (ok) {
        char block[65536];
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            ok = err_set(err, "cannot read %s: %s", path, strerror(errno));
        if (got <= 0)
            break;
        total += (size_t)got;
        if (total > most)
            ok = err_set(err, "%s is larger than the %zu bytes Stride reads", path, most);
        else
            buf_add(out, block, (size_t)got);
    }
    close(fd);
    return ok;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t put = write(fd, bytes, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

bool file_write(const char *path, const void *bytes, size_t len, bool sync, struct err *err)
{
    char *real = realpath(path, NULL);
    const char *target = real ? real : path;
    char *temp = mem_printf("%s.new-%ld", target, (long)getpid());
    struct stat old;
    mode_t mode = stat(target, &old) == 0 ? old.st_mode & 0777 : 0644;
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    bool ok = fd >= 0 && write_all(fd, bytes, len) && (!sync || fsync(fd) == 0);
    if (fd >= 0 && close(fd) != 0)
        ok = false;
    if (ok)
        ok = rename(temp, target) == 0;
    if (!ok) {
        int reason = errno;
        if (fd >= 0)
            unlink(temp);
        err_set(err, "cannot write %s: %s", target, strerror(reason));
    }
    free(temp);
    free(real);
    return ok;
}

bool file_make_dirs(const char *path, struct err *err)
{
    char *copy = mem_strdup(path);
    bool ok = true;
    for (char *slash = copy + 1; ok && *copy; slash++) {
        bool last = *slash == '\0';
        if (*slash != '/' && !last)
            continue;
        *slash = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            ok = err_set(err, "cannot create the folder %s: %s", copy, strerror(errno));
        else if (!file_is_dir(copy))
            ok = err_set(err, "cannot create the folder %s: a file of that name is there", copy);
        if (last)
            break;
        *slash = '/';
    }
    free(copy);
    return ok;
}

void file_remove_folder(const char *folder)
{
    DIR *dir = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    if (folder)
        rmdir(folder);
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool file_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

char *path_join(const char *a, const char *b)
{
    size_t len = strlen(a);
    while (len > 1 && a[len - 1] == '/')
        len--;
    while (*b == '/')
        b++;
    bool slash = len && a[len - 1] != '/';
    return mem_printf("%.*s%s%s", (int)len, a, slash ? "/" : "", b);
}

const char *path_temporary(void)
{
    const char *temporary = getenv("TMPDIR");
    return temporary && *temporary == '/' ? temporary : "/tmp";
}

static bool is_root(const char *folder)
{
    char *lessons = path_join(folder, "lessons"), *kernels = path_join(folder, "kernels");
    bool yes = file_is_dir(lessons) && file_is_dir(kernels);
    free(lessons);
    free(kernels);
    return yes;
}

bool path_find_root(char **out, struct err *err)
{
    const char *named = getenv("STRIDE_ROOT");
    if (named && *named) {
        if (!is_root(named))
            return err_set(err,
                           "STRIDE_ROOT=%s holds no lessons/ and kernels/: unset it, or point "
                           "it at an unpacked Stride",
                           named);
        *out = mem_strdup(named);
        return true;
    }
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len > 0) {
        program[len] = '\0';
        char *slash = strrchr(program, '/');
        *slash = '\0';
        static const char *const places[] = {"../share/stride", ".."};
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char *place = path_join(program, places[i]);
            char *real = realpath(place, NULL);
            free(place);
            if (real && is_root(real)) {
                *out = real;
                return true;
            }
            free(real);
        }
    }
    return err_set(err,
                   "cannot find the lessons: set STRIDE_ROOT to the folder that holds lessons/ "
                   "and kernels/");
}

bool path_find_home(char **out, struct err *err)
{
    const char *home = getenv("STRIDE_HOME");
    if (home && *home) {
        *out = *home == '/' ? mem_strdup(home) : NULL;
        if (!*out) {
            char here[PATH_MAX];
            if (!getcwd(here, sizeof here))
                return err_set(err,
                               "STRIDE_HOME=%s is relative and the current folder is gone: give "
                               "an absolute path",
                               home);
            *out = path_join(here, home);
        }
        return true;
    }
    home = getenv("XDG_DATA_HOME");
    if (home && *home == '/') {
        *out = path_join(home, "stride");
        return true;
    }
    home = getenv("HOME");
    if (!home || *home != '/') {
        struct passwd *entry = getpwuid(getuid());
        home = entry ? entry->pw_dir : NULL;
    }
    if (!home || *home != '/')
        return err_set(err,
                       "there is no home folder: set STRIDE_HOME to where your work may be kept");
    *out = path_join(home, ".local/share/stride");
    return true;
}
