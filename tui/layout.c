#include "tui/layout.h"

#include <string.h>

/* Code with line numbers fits MAIN; the results' tables fit SIDE. */
enum { OUTLINE = 27, MAIN = 84, SIDE = 55, READ = 80, MAIN_MOST = 104 };

static const struct {
    int of_two, of_three, widest;
} homes[PANE_COUNT] = {
#define X(symbol, name, title, small, key, two, three, context, cursor, width, widest)             \
    {two, three, widest},
#include "tui/pane.def"
#undef X
};

static void place(struct column *column, int row, int col, int rows, int cols)
{
    column->box = (struct rect){row, col, rows, cols};
    column->tabs = (struct rect){row, col, 1, cols};
    column->rule = (struct rect){row + 1, col, 1, cols};
    column->text = (struct rect){row + 2, col + 1, rows - 2, cols - 2};
}

/* Widths of the columns from left to right; between two of them stands a line one column wide. */
static int split(int widths[LAYOUT_COLUMNS], int cols, bool *outline)
{
    int count = 0, left = cols;
    *outline =
        cols >= OUTLINE + 1 + MAIN && (cols < MAIN + 1 + SIDE || cols >= OUTLINE + MAIN + SIDE + 2);
    if (*outline) {
        widths[count++] = OUTLINE;
        left -= OUTLINE + 1;
    }
    if (left >= READ + MAIN + SIDE + 2) {
        widths[count++] = READ;
        left -= READ + 1;
    }
    if (left >= MAIN + 1 + SIDE) {
        int main = left / 2 < MAIN ? MAIN : left / 2 > MAIN_MOST ? MAIN_MOST : left / 2;
        widths[count++] = main;
        left -= main + 1;
    }
    widths[count++] = left;
    return count;
}

void layout_compute(struct layout *out, int rows, int cols)
{
    memset(out, 0, sizeof *out);
    out->too_small = rows < LAYOUT_LEAST_ROWS || cols < LAYOUT_LEAST_COLS;
    if (out->too_small)
        return;
    int widths[LAYOUT_COLUMNS], col = 0;
    out->column_count = split(widths, cols, &out->outline);
    out->header = (struct rect){0, 0, 1, cols};
    for (int i = 0; i < out->column_count; i++) {
        place(&out->column[i], 1, col, rows - 3, widths[i]);
        col += widths[i] + 1;
    }
    out->status = (struct rect){rows - 2, 0, 1, cols};
    out->keys = (struct rect){rows - 1, 0, 1, cols};
}

int layout_column_of(const struct layout *layout, enum pane pane)
{
    int first = layout->outline ? 1 : 0, groups = layout->column_count - first;
    if (pane == PANE_COURSE || groups <= 1)
        return pane == PANE_COURSE ? 0 : first;
    return first + (groups == 2 ? homes[pane].of_two : homes[pane].of_three);
}

struct rect layout_text_of(const struct layout *layout, enum pane pane)
{
    struct rect text = layout->column[layout_column_of(layout, pane)].text;
    int widest = homes[pane].widest;
    if (widest > 0 && text.cols > widest)
        text.cols = widest;
    return text;
}
