/* The screen as a value: a grid of cells, each one character with its marks, a width and a style.
 *
 * A grid owns its cells until cells_free; text put into it is copied. It is drawn from scratch for
 * every frame and compared by whoever shows it.
 *
 * It knows no terminal: the same grid goes to curses, to a file in script mode, and to tests.
 * Nothing put into it can spoil its shape: a wide character that does not fit becomes blanks, a
 * mark stays with its letter, control characters become '?'. */
#ifndef STRIDE_TUI_CELLS_H
#define STRIDE_TUI_CELLS_H

#include "harness/base/buf.h"
#include "tui/doc.h"

#include <stdbool.h>
#include <stdint.h>

enum { CELL_TEXT = 16 };

/* Laid over a cell's own style. */
enum cell_over { OVER_NONE, OVER_SELECTED, OVER_STATUS, OVER_MATCH, OVER_COUNT };

struct cell {
    char text[CELL_TEXT]; /* UTF-8, NUL-terminated; "" for the right half of a wide character */
    uint8_t width;        /* 1 or 2 columns; 0 for the right half */
    uint8_t style;        /* enum style */
    uint8_t over;         /* enum cell_over */
};

struct cells {
    int rows, cols;
    struct cell *cell; /* rows * cols, row by row */
    size_t capacity;
    int cursor_row, cursor_col; /* where the terminal's cursor stands; row -1 hides it */
};

struct rect {
    int row, col, rows, cols;
};

/* Makes the grid that size, all blanks of STYLE_NORMAL, no cursor. */
void cells_start(struct cells *cells, int rows, int cols);
void cells_free(struct cells *cells);

/* The cell, or NULL outside the grid. */
struct cell *cells_at(const struct cells *cells, int row, int col);

/* Puts text into row from column col, at most `most` columns of it, after leaving out its first
 * `skip` columns. What falls outside the grid is dropped. Returns the columns that were filled. */
int cells_put(struct cells *cells, int row, int col, int most, int skip, enum style style,
              const char *text, size_t len);
int cells_put_str(struct cells *cells, int row, int col, int most, enum style style,
                  const char *text);

/* Fills the rectangle with one character of one column. */
void cells_fill(struct cells *cells, struct rect rect, enum style style, const char *character);

/* Lays `over` over `columns` cells of a row. */
void cells_lay(struct cells *cells, int row, int col, int columns, enum cell_over over);

/* Replaces everything that is not ASCII: lines by - | +, marks by a stand-in, the rest by '?'.
 * Columns stay where they are. */
void cells_to_ascii(struct cells *cells);

/* Appends the grid as text, a line per row without trailing blanks. */
void cells_text(const struct cells *cells, struct buf *out);

/* Appends the styles as text of the same shape: a letter per cell, '.' for normal text, '#' where
 * the selection lies over it, '?' for a match. A legend of the letters in use follows. */
void cells_styles(const struct cells *cells, struct buf *out);

/* The style's name in theme files. */
const char *style_name(enum style style);

#endif
