/* Whole files and paths.
 *
 * Buffers are filled for the caller, who frees them. Every failure says which path and why.
 *
 * Nothing here goes through a shell, follows a path outside what the caller named, or leaves a
 * half-written file where a whole one was. */
#ifndef STRIDE_BASE_FILE_H
#define STRIDE_BASE_FILE_H

#include "buf.h"
#include "err.h"

#include <sys/types.h>

/* Appends the file's bytes to out. A file of more than `most` bytes is an error, as is a folder. */
bool file_read(struct buf *out, const char *path, size_t most, struct err *err);

/* Replaces path by the bytes: written beside it, synced to disk when `sync`, then renamed over it
 * (over the file it points to when path is a symbolic link). On failure the old file is intact and
 * nothing is left beside it. */
bool file_write(const char *path, const void *bytes, size_t len, bool sync, struct err *err);

/* Creates the folder and its parents, mode 0777 & ~umask. An existing folder is fine. */
bool file_make_dirs(const char *path, struct err *err);

/* Removes the folder and the files in it; folders in it stay, and keep it. NULL is fine. */
void file_remove_folder(const char *folder);

bool file_exists(const char *path);
bool file_is_dir(const char *path);

/* a/b with exactly one slash between; free() it. */
char *path_join(const char *a, const char *b);

/* Where folders are made that last a while: $TMPDIR, else "/tmp"; borrowed. */
const char *path_temporary(void);

/* The folder that holds Stride's lessons, kernels and assets: $STRIDE_ROOT, else beside the running
 * program (../share/stride, ..), else a sentence. Free *out. */
bool path_find_root(char **out, struct err *err);

/* The student's home: $STRIDE_HOME, else $XDG_DATA_HOME/stride, else ~/.local/share/stride (HOME
 * from the password database when the variable is unset). Free *out; creates nothing. */
bool path_find_home(char **out, struct err *err);

#endif
