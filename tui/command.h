/* What keys do: one table, command.def, feeds the key map, the bottom line, the help and the
 * manual.
 *
 * Everything here is static.
 *
 * It does not perform commands; app.c does. */
#ifndef STRIDE_TUI_COMMAND_H
#define STRIDE_TUI_COMMAND_H

#include "harness/base/buf.h"

#include <stdint.h>

/* Where a key counts. A command of the focused pane's own context wins over one of CONTEXT_ANY. */
enum context {
    CONTEXT_ANY,
    CONTEXT_COURSE,
    CONTEXT_CODE,    /* lines that belong to source lines: Code, Correctness */
    CONTEXT_LISTING, /* PTX, SASS */
    CONTEXT_HISTORY,
    CONTEXT_QUIZ,
    CONTEXT_TIMELINE,
    CONTEXT_RUNNING, /* while an attempt runs; wins over all */
    CONTEXT_COUNT
};

enum command {
    COMMAND_NONE,
#define X(symbol, name, context, keys, hint, help) COMMAND_##symbol,
#include "tui/command.def"
#undef X
    COMMAND_COUNT
};

/* The command of that key in that context, else in CONTEXT_ANY, else COMMAND_NONE. */
enum command command_find(enum context context, bool running, int32_t key);

const char *command_name(enum command command); /* "restore" */
enum context command_context(enum command command);
const char *command_keys(enum command command); /* "j Down" */
const char *command_hint(
    enum command command); /* one or two words in the student's language, or "" */
const char *command_help(enum command command);  /* a sentence in the student's language */
const char *context_title(enum context context); /* in the student's language */

/* The first of the command's keys, as shown in the bottom line. At most 16 bytes. */
void command_first_key(char out[16], enum command command);

/* Appends the table as Markdown, for docs and the manual page. */
void command_markdown(struct buf *out);

#endif
