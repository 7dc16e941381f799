#include "tui/watch.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static void add_folder_of(struct watch *watch, const char *path)
{
    char *folder = mem_strdup(path), *slash = strrchr(folder, '/');
    if (slash && slash != folder)
        *slash = '\0';
    /* A save is a write that is closed, or a file renamed over the old one */
    inotify_add_watch(watch->fd, folder, IN_CLOSE_WRITE | IN_MOVED_TO);
    free(folder);
}

void watch_open(struct watch *watch, const char *path)
{
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd < 0)
        return;
    add_folder_of(watch, path);
    char *real = realpath(path, NULL);
    if (real && strcmp(real, path) != 0)
        add_folder_of(watch, real);
    free(real);
}

void watch_close(struct watch *watch)
{
    if (watch->fd >= 0)
        close(watch->fd);
    watch->fd = -1;
}

bool watch_take(struct watch *watch)
{
    char events[4096];
    bool any = false;
    while (watch->fd >= 0 && read(watch->fd, events, sizeof events) > 0)
        any = true;
    return any;
}
