/* A window onto a doc: wraps it to a width, scrolls, searches, and says what each visible row
 * shows. Every text pane has one; the screen only blits its pieces.
 *
 * A viewer borrows the doc, which must not change while it is shown (viewer_show again after it
 * did) and must outlive it. Zeroed memory is a viewer that shows nothing; viewer_free gives back
 * its own.
 *
 * It never touches the screen, and drawing (the functions that take a const viewer) changes
 * nothing. It never draws half of a wide character: a blank stands where one does not fit. */
#ifndef STRIDE_TUI_VIEWER_H
#define STRIDE_TUI_VIEWER_H

#include "doc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct viewer_row {
    uint32_t line;     /* of the doc, from 0 */
    uint32_t from, to; /* bytes of the line's text that stand here (whole line in a kept line) */
    uint16_t indent;   /* blank columns in front, in a wrapped continuation */
    bool first;        /* the line's first row */
};

struct viewer_broken; /* where the rows of a long line end; viewer.c */
struct viewer_hit {
    uint32_t line, before; /* a line with matches, and how many matches are above it */
};

struct viewer {
    const struct doc *doc;
    int columns, rows;          /* size of the window */
    uint32_t top_line, top_row; /* the doc line at the top, and which of its wrapped rows */
    uint32_t left;              /* columns that kept lines are scrolled sideways */
    uint32_t widest;            /* columns of the widest kept line */
    bool wrap_all;              /* wrap kept lines too */
    bool has_cursor;            /* one line is the current one, and moving moves it */
    uint32_t cursor;            /* that line */

    struct viewer_row *row; /* what is visible: row_count <= rows */
    int row_count;

    char *needle; /* NULL while nothing is searched */
    size_t needle_len;
    bool fold; /* the needle has no capitals: case does not matter */
    struct viewer_hit *hits;
    size_t hit_count, match_count;
    bool at_match; /* one match is the current one */
    uint32_t match_line, match_from;

    struct viewer_broken *broken; /* the few long lines last laid out */
};

/* Shows a doc (NULL for none) from its beginning, or, with `keep`, from the same line as before.
 * The search is repeated in it. */
void viewer_show(struct viewer *viewer, const struct doc *doc, bool keep);
void viewer_free(struct viewer *viewer);

/* Gives the window a size, 0 allowed; the line at the top stays there. */
void viewer_resize(struct viewer *viewer, int columns, int rows);

/* Moves. Each stops at the ends. With a cursor, `viewer_move` moves the cursor by lines and the
 * window follows; without, it scrolls by rows. Pages keep one row of context. */
void viewer_move(struct viewer *viewer, int by);
void viewer_scroll(struct viewer *viewer, int rows);
void viewer_page(struct viewer *viewer, int pages);
void viewer_home(struct viewer *viewer);
void viewer_end(struct viewer *viewer);
void viewer_go_line(struct viewer *viewer, uint32_t line); /* also moves the cursor there */
void viewer_sideways(struct viewer *viewer, int columns);
void viewer_set_cursor(struct viewer *viewer, bool on);
void viewer_set_wrap(struct viewer *viewer, bool wrap_all);

/* Looks for literal text (smart case: capitals in it make case matter); "" or NULL ends the search.
 * The first match from the top of the window (or the cursor) on becomes the current one and is
 * brought into view. Returns the number of matches. */
size_t viewer_search(struct viewer *viewer, const char *needle);

/* To the next (by > 0) or previous match, around the end. Returns false when there is none;
 * `*wrapped` (may be NULL) tells that it went around. */
bool viewer_search_next(struct viewer *viewer, int by, bool *wrapped);

/* Number of the current match, from 1; 0 when there is none. */
size_t viewer_match_number(const struct viewer *viewer);

/* How far down the window is, 0..100; 100 when the end is visible. */
int viewer_percent(const struct viewer *viewer);

enum viewer_match { MATCH_NONE, MATCH_ONE, MATCH_CURRENT };

/* Text that stands together on a row. */
struct viewer_piece {
    const char *text; /* clean, not NUL-terminated; never cut inside a character */
    uint32_t len;
    int column, columns; /* where it starts, how many columns it takes */
    enum style style;
    enum viewer_match match;
};

typedef void viewer_piece_fn(void *context, const struct viewer_piece *piece);

/* Gives the pieces of a visible row (0 at the top) from left to right; together they fit into the
 * window's columns, and columns that no piece covers are blank. Rows below the end have no pieces.
 */
void viewer_draw_row(const struct viewer *viewer, int row, viewer_piece_fn *draw, void *context);

/* The doc line shown in a visible row; NULL below the end. `*cursor` (may be NULL) tells whether it
 * is the current line, `*more_left` and `*more_right` whether a kept line goes on beyond the edges.
 */
const struct doc_line *viewer_row_line(const struct viewer *viewer, int row, bool *cursor,
                                       bool *more_left, bool *more_right);

/* The current line: the cursor's, or the one at the top. NULL when the doc is empty. */
const struct doc_line *viewer_current(const struct viewer *viewer);

#endif
