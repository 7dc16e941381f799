#include "turn.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { POLL_MS = 20 };

/* Reading is enough for a lock, so another user's file does as well as one's own. It is opened
 * before it is created: in a sticky folder the system refuses O_CREAT on what another user made. */
static int open_lock(const char *path)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = open(path, flags);
    if (fd < 0 && errno == ENOENT) {
        fd = open(path, flags | O_CREAT | O_EXCL, 0644);
        if (fd >= 0)
            fchmod(fd, 0644); /* a strict umask must not lock others out */
        else if (errno == EEXIST)
            fd = open(path, flags);
    }
    struct stat info;
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

enum turn_state turn_take(struct turn *out, const char *folder, const char *uuid, double most_ms,
                          void (*waiting)(void *context), void *context)
{
    char *path = mem_printf("%s/stride-%s.lock", folder ? folder : "/tmp", uuid);
    out->fd = open_lock(path);
    free(path);
    if (out->fd < 0)
        return TURN_UNLOCKED;
    for (double waited = 0;; waited += POLL_MS) {
        if (flock(out->fd, LOCK_EX | LOCK_NB) == 0)
            return TURN_MINE;
        if (errno != EWOULDBLOCK && errno != EINTR) { /* a file system without locks */
            turn_give(out);
            return TURN_UNLOCKED;
        }
        if (waited >= most_ms) {
            turn_give(out);
            return TURN_BUSY;
        }
        if (waited == 0 && waiting)
            waiting(context);
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000}, NULL);
    }
}

void turn_give(struct turn *turn)
{
    if (turn->fd >= 0)
        close(turn->fd);
    turn->fd = -1;
}
