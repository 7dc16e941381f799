/* The student's editor: which one, and how it is called.
 *
 * An argument vector made here is the caller's; editor_free gives it back. Starting it is the
 * caller's, who owns the terminal; a failed exec is explained by editor_explain.
 *
 * It never goes through a shell: words are split here (blanks, quotes, backslash), nothing expands.
 */
#ifndef STRIDE_TUI_EDITOR_H
#define STRIDE_TUI_EDITOR_H

#include "harness/base/err.h"

#include <stdbool.h>

struct editor {
    char **argv;          /* NULL-terminated; argv[0] is an absolute path */
    const char *variable; /* "VISUAL", "EDITOR", or "" for one of the defaults */
    char *command;        /* as the student wrote it */
};

/* Fills argv for opening path (made absolute) at line (0: none; given only to editors known to take
 * one). VISUAL, then EDITOR, a blank one counting as unset, then nano, vim, vi. False with the real
 * reason: missing, no permission, interpreter missing, unbalanced quote, none installed. */
bool editor_choose(struct editor *out, const char *path, int line, struct err *err);
void editor_free(struct editor *editor);

/* After the editor is gone: a sentence when it could not be started or ended badly, or when it came
 * back within a second and changed nothing (a window that detached: name its wait flag). False when
 * there is nothing to say. `status` is waitpid's. */
bool editor_explain(const struct editor *editor, int status, double seconds, bool changed,
                    struct err *out);

/* In a forked child: default signals, nothing blocked, then exec. Never returns; exits with 127. */
_Noreturn void editor_exec(const struct editor *editor);

/* Splits a command into words, as a shell would without expanding anything. free each and the list.
 */
bool editor_split(const char *command, char ***words, int *count, struct err *err);

#endif
