/* Styled text: what every text pane holds. Lessons, code, listings, quizzes, tables, diffs and help
 * all become a struct doc; one viewer (scroll, wrap, search) shows them all.
 *
 * A doc owns its text in an arena. Text in it is clean: valid UTF-8, no control characters, tabs
 * expanded. Builders clean what they are given (doc_add does it), so nothing else has to.
 *
 * A doc knows nothing of the screen: widths are asked when it is laid out. */
#ifndef STRIDE_TUI_DOC_H
#define STRIDE_TUI_DOC_H

#include "harness/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum style {
#define X(symbol, name) STYLE_##symbol,
#include "styles.def"
#undef X
    STYLE_COUNT
};

/* A run of one style. A line's spans follow each other in its text. */
struct span {
    uint32_t len : 24;  /* bytes */
    uint32_t style : 8; /* enum style */
};

struct doc_line {
    const char *text; /* in the doc's arena; not NUL-terminated; NULL when empty */
    struct span *spans;
    uint32_t len, span_count; /* bytes of text; spans */
    uint32_t columns;         /* of the whole line, unwrapped */
    uint16_t indent;          /* columns that wrapped continuation lines start with */
    bool keep;                /* code, tables, figures: never wrapped, scrolled sideways instead */
    int32_t source_line;      /* line of the student's kernel this line belongs to, 0 for none */
    int32_t tag; /* the builder's own meaning (a quiz choice, a history row), 0 for none */
};

struct doc {
    struct arena arena;
    struct doc_line *lines;
    size_t line_count, line_capacity;
    bool open;    /* the last line still takes spans */
    int tab_size; /* columns between tab stops; 0 means 8. Builders of code set 4 */

    /* doc.c's own: the block that text goes to, and the open line's spans. */
    char *block;
    size_t block_used, block_size;
    struct span *spans;
    uint32_t span_capacity;
    uint32_t tab_origin; /* column that tab stops are counted from: behind a line number */
    uint32_t marks;      /* zero-width characters on the last cell */
};

/* Appends text to the last line; a '\n' ends it. Escape sequences and control characters are
 * dropped, invalid UTF-8 becomes U+FFFD, a tab becomes spaces up to the next tab stop. A mark
 * without a letter gets a blank to stand on. */
void doc_add(struct doc *doc, enum style style, const char *text, size_t len);
void doc_add_str(struct doc *doc, enum style style, const char *text);
void doc_printf(struct doc *doc, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends the last line (an empty one when none was open) and returns it for setting its attributes;
 * the pointer is valid until the next call that adds. */
struct doc_line *doc_end_line(struct doc *doc);

/* Tab stops of the open line are counted from here on: call it behind a line number or a margin. */
void doc_set_tab_origin(struct doc *doc);

/* The line's text: `*len` clean bytes without a line end, never NULL, not NUL-terminated. */
const char *doc_line_text(const struct doc_line *line, size_t *len);

void doc_free(struct doc *doc);

/* Columns that the text takes on a terminal: wide CJK is 2, combining marks 0. */
int text_columns(const char *text, size_t len);

/* The longest prefix, in bytes, that fits into `columns`; never cuts a character from its marks. */
size_t text_fit(const char *text, size_t len, int columns, int *used);

/* Bytes of the first character with its marks, and its columns (0, 1 or 2); len > 0. */
size_t text_cluster(const char *text, size_t len, int *columns);

#endif
