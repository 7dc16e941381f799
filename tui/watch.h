/* Watches the student's kernel for changes made by somebody else: an editor in another window, or
 * one that returned at once and saves later.
 *
 * A watch owns one inotify descriptor; the caller polls it.
 *
 * It only says that something happened in the kernel's folder; whether the text is another one is
 * for the caller to see. Where inotify does not work nothing is ever reported. */
#ifndef STRIDE_TUI_WATCH_H
#define STRIDE_TUI_WATCH_H

#include <stdbool.h>

struct watch {
    int fd; /* -1: not watching */
};

/* Watches the folders of path and, when it is a symbolic link, of the file it points to. */
void watch_open(struct watch *watch, const char *path);
void watch_close(struct watch *watch);

/* Takes what has been reported; true when there was something. Never blocks. */
bool watch_take(struct watch *watch);

#endif
