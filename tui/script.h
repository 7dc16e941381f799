/* Script files: keys in, screens out, for tests and for people who make pictures of a session.
 *
 * A script owns its steps; returned text is borrowed from it.
 *
 * It only reads the file: main.c performs the steps. One step a line, '#' starts a comment:
 *
 *     key NAME...        keys by name: e, Enter, Ctrl-L, PgDn
 *     type TEXT          every character of the rest of the line as a key
 *     wait run           until no attempt and no editor is open
 *     wait idle          the same, and the next harness is warm
 *     wait NUMBER        that many milliseconds
 *     wait text TEXT     until the screen shows TEXT
 *     size COLSxROWS     resizes the window
 *     save NAME          writes NAME.txt (the screen) and NAME.style (its styles)
 *     expect TEXT        fails unless the screen shows TEXT */
#ifndef STRIDE_TUI_SCRIPT_H
#define STRIDE_TUI_SCRIPT_H

#include "harness/base/err.h"

#include <stddef.h>
#include <stdint.h>

enum script_kind {
    SCRIPT_KEY,
    SCRIPT_WAIT_RUN,
    SCRIPT_WAIT_IDLE,
    SCRIPT_WAIT_MS,
    SCRIPT_WAIT_TEXT,
    SCRIPT_SIZE,
    SCRIPT_SAVE,
    SCRIPT_EXPECT,
};

struct script_step {
    enum script_kind kind;
    int line; /* of the file, for messages */
    int32_t key;
    int number; /* milliseconds; columns */
    int rows;
    char *text;
};

struct script {
    char *path;
    struct script_step *steps;
    size_t count, next;
};

/* Errors carry file and line. */
bool script_load(struct script *script, const char *path, struct err *err);
bool script_parse(struct script *script, const char *text, const char *path, struct err *err);
void script_free(struct script *script);

/* "80x24": columns 1 to 1000, rows 1 to 500. */
bool script_parse_size(const char *text, int *cols, int *rows);

#endif
