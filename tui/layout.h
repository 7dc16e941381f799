/* Where things stand on the screen, for a size.
 *
 * A layout is a plain value that the caller owns.
 *
 * It knows which column a pane belongs to, not what is in the pane or which one is shown. */
#ifndef STRIDE_TUI_LAYOUT_H
#define STRIDE_TUI_LAYOUT_H

#include "tui/cells.h"

enum pane {
#define X(symbol, ...) PANE_##symbol,
#include "tui/pane.def"
#undef X
    PANE_COUNT
};

enum { LAYOUT_COLUMNS = 4, LAYOUT_LEAST_ROWS = 10, LAYOUT_LEAST_COLS = 40 };

struct column {
    struct rect box;  /* all of it */
    struct rect tabs; /* one row: the names of its panes */
    struct rect rule; /* one row below */
    struct rect text; /* what the pane may fill */
};

struct layout {
    bool too_small;
    bool outline; /* column 0 holds the course alone */
    int column_count;
    struct column column[LAYOUT_COLUMNS];
    struct rect header, status, keys;
};

/* One column; with the outline from 112; two from 140, with the outline from 167; three from 250.
 */
void layout_compute(struct layout *out, int rows, int cols);

/* The column a pane is shown in. */
int layout_column_of(const struct layout *layout, enum pane pane);

/* The pane's text area: its column's, not wider than the pane reads well. */
struct rect layout_text_of(const struct layout *layout, enum pane pane);

#endif
