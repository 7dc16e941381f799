/* Colours for code: CUDA C++, PTX and SASS, one line at a time.
 *
 * Nothing is owned but the few bytes of state that one line hands to the next; zeroed is the start
 * of a text.
 *
 * It never fails: what it does not know is normal text, and broken code is shown as it is. */
#ifndef STRIDE_TUI_HIGHLIGHT_H
#define STRIDE_TUI_HIGHLIGHT_H

#include "doc.h"

#include <stdbool.h>
#include <stddef.h>

enum language { LANGUAGE_TEXT, LANGUAGE_CUDA, LANGUAGE_PTX, LANGUAGE_SASS, LANGUAGE_COUNT };

struct highlight {
    bool in_comment;   /* a block comment goes on */
    bool in_statement; /* the opcode of this PTX or SASS statement is past */
    bool in_raw;       /* a raw string goes on, ended by... */
    char raw_end[20];  /* ...")name\"" */
};

/* The language of a code fence or file name's end ("cuda", "cu", "ptx", ...); LANGUAGE_TEXT when
 * unknown. */
enum language highlight_language(const char *name, size_t len);

/* Adds one line of code (no '\n' in it) to the doc's open line, in styles. Does not end the line.
 */
void highlight_line(struct doc *doc, enum language language, struct highlight *state,
                    const char *text, size_t len);

struct highlight_options {
    bool numbers;     /* line numbers in front */
    int first_number; /* of the first line; 0 means 1 */
    int indent;       /* blank columns in front of everything */
    int columns;      /* code that fits only with narrow numbers, or without, has such; 0: any */
    bool source;      /* set source_line to the line's number */
};

/* Columns of a text's widest line, with tabs of 4. */
int highlight_columns(const char *text, size_t len);

/* Adds a whole text, cleaned, as kept lines; tabs are 4 columns. */
void highlight_code(struct doc *doc, enum language language, const char *text, size_t len,
                    const struct highlight_options *options);

#endif
