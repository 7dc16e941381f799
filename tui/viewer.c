/* How to read this: a position is a line and one of its rows, never a count of rows from the top,
 * so nothing ever asks how tall the whole doc is. Moving walks over the few lines that it passes.
 * Each change ends in viewer_settle, which lays out what is visible; drawing only reads that. */
#include "viewer.h"

#include "viewer_core.h"
#include "wrap.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

enum { BROKEN_COUNT = 64 };

struct viewer_broken {
    uint32_t line;
    bool valid;
    struct wrap wrap;
};

static uint32_t line_count(const struct viewer *viewer)
{
    return viewer->doc ? (uint32_t)viewer->doc->line_count : 0;
}

static bool is_one_row(const struct viewer *viewer, uint32_t number)
{
    const struct doc_line *line = &viewer->doc->lines[number];
    return viewer_keeps(viewer, line) || viewer->columns <= 0 ||
           line->columns <= (uint32_t)viewer->columns;
}

/* Neighbours never share a place, so what is visible is laid out once. */
static const struct wrap *broken_line(struct viewer *viewer, uint32_t number)
{
    if (!viewer->broken)
        viewer->broken = mem_zero(BROKEN_COUNT, sizeof *viewer->broken);
    struct viewer_broken *broken = &viewer->broken[number % BROKEN_COUNT];
    if (!broken->valid || broken->line != number) {
        const struct doc_line *line = &viewer->doc->lines[number];
        wrap_line(&broken->wrap, line, viewer->columns, line->indent);
        broken->line = number;
        broken->valid = true;
    }
    return &broken->wrap;
}

static void forget_layout(struct viewer *viewer)
{
    for (int i = 0; viewer->broken && i < BROKEN_COUNT; i++)
        viewer->broken[i].valid = false;
}

uint32_t viewer_height(struct viewer *viewer, uint32_t line)
{
    return is_one_row(viewer, line) ? 1 : (uint32_t)broken_line(viewer, line)->count;
}

uint32_t viewer_row_of(struct viewer *viewer, uint32_t line, uint32_t byte)
{
    if (is_one_row(viewer, line))
        return 0;
    const struct wrap *wrap = broken_line(viewer, line);
    size_t row = 0;
    while (row + 1 < wrap->count && wrap->rows[row + 1].from <= byte)
        row++;
    return (uint32_t)row;
}

/* Moves a position by rows, as far as the doc goes. */
static void walk(struct viewer *viewer, uint32_t *line, uint32_t *row, long by)
{
    long place = (long)*row + by;
    while (place < 0 && *line > 0)
        place += viewer_height(viewer, --*line);
    if (place < 0)
        place = 0;
    long height = viewer_height(viewer, *line);
    while (place >= height && *line + 1 < line_count(viewer)) {
        place -= height;
        height = viewer_height(viewer, ++*line);
    }
    *row = (uint32_t)(place < height ? place : height - 1);
}

static bool before(uint32_t line_a, uint32_t row_a, uint32_t line_b, uint32_t row_b)
{
    return line_a < line_b || (line_a == line_b && row_a < row_b);
}

/* The lowest position that the top may have: the last row of the doc stands at the bottom. */
static void lowest_top(struct viewer *viewer, uint32_t *line, uint32_t *row)
{
    *line = line_count(viewer) - 1;
    *row = viewer_height(viewer, *line) - 1;
    walk(viewer, line, row, 1 - (long)viewer->rows);
}

void viewer_reveal(struct viewer *viewer, uint32_t line, uint32_t row)
{
    uint32_t end_line = viewer->top_line, end_row = viewer->top_row;
    if (viewer->rows > 0)
        walk(viewer, &end_line, &end_row, viewer->rows - 1);
    bool above = before(line, row, viewer->top_line, viewer->top_row);
    if (!above && !before(end_line, end_row, line, row))
        return;
    viewer->top_line = line;
    viewer->top_row = row;
    walk(viewer, &viewer->top_line, &viewer->top_row, -(long)(viewer->rows / 3));
}

/* Scrolls only as far as the cursor makes it necessary. */
static void follow_cursor(struct viewer *viewer)
{
    uint32_t line = viewer->cursor, last = viewer_height(viewer, line) - 1;
    if (before(line, 0, viewer->top_line, viewer->top_row)) {
        viewer->top_line = line;
        viewer->top_row = 0;
        return;
    }
    uint32_t row = last < (uint32_t)(viewer->rows > 0 ? viewer->rows : 1) ? last : 0;
    walk(viewer, &line, &row, 1 - (long)viewer->rows);
    if (before(viewer->top_line, viewer->top_row, line, row)) {
        viewer->top_line = line;
        viewer->top_row = row;
    }
}

static void measure(struct viewer *viewer)
{
    viewer->widest = 0;
    for (uint32_t i = 0; i < line_count(viewer); i++)
        if (viewer->doc->lines[i].keep && viewer->doc->lines[i].columns > viewer->widest)
            viewer->widest = viewer->doc->lines[i].columns;
}

static void clamp_left(struct viewer *viewer)
{
    uint32_t window = (uint32_t)viewer->columns;
    uint32_t most = viewer->wrap_all || viewer->widest <= window ? 0 : viewer->widest - window;
    if (viewer->left > most)
        viewer->left = most;
}

static void lay_out(struct viewer *viewer)
{
    viewer->row_count = 0;
    for (uint32_t line = viewer->top_line, row = viewer->top_row;
         line < line_count(viewer) && viewer->row_count < viewer->rows; line++, row = 0) {
        const struct doc_line *here = &viewer->doc->lines[line];
        if (is_one_row(viewer, line)) {
            size_t len;
            doc_line_text(here, &len);
            viewer->row[viewer->row_count++] =
                (struct viewer_row){.line = line, .to = (uint32_t)len, .first = true};
            continue;
        }
        const struct wrap *wrap = broken_line(viewer, line);
        for (; row < wrap->count && viewer->row_count < viewer->rows; row++)
            viewer->row[viewer->row_count++] = (struct viewer_row){
                .line = line,
                .from = wrap->rows[row].from,
                .to = wrap->rows[row].to,
                .indent = (uint16_t)(row ? wrap_indent(viewer->columns, here->indent) : 0),
                .first = row == 0,
            };
    }
}

void viewer_settle(struct viewer *viewer)
{
    uint32_t count = line_count(viewer);
    if (count == 0) {
        viewer->top_line = viewer->top_row = viewer->left = viewer->cursor = 0;
        viewer->row_count = 0;
        return;
    }
    if (viewer->cursor >= count)
        viewer->cursor = count - 1;
    if (viewer->top_line >= count) {
        viewer->top_line = count - 1;
        viewer->top_row = UINT32_MAX;
    }
    uint32_t height = viewer_height(viewer, viewer->top_line), line, row;
    if (viewer->top_row >= height)
        viewer->top_row = height - 1;
    lowest_top(viewer, &line, &row);
    if (before(line, row, viewer->top_line, viewer->top_row)) {
        viewer->top_line = line;
        viewer->top_row = row;
    }
    lay_out(viewer);
}

void viewer_show(struct viewer *viewer, const struct doc *doc, bool keep)
{
    forget_layout(viewer);
    viewer->doc = doc;
    if (!keep)
        viewer->top_line = viewer->top_row = viewer->left = viewer->cursor = 0;
    viewer->at_match = false;
    viewer_collect(viewer);
    measure(viewer);
    clamp_left(viewer);
    viewer_settle(viewer);
}

void viewer_free(struct viewer *viewer)
{
    for (int i = 0; viewer->broken && i < BROKEN_COUNT; i++)
        wrap_free(&viewer->broken[i].wrap);
    free(viewer->broken);
    free(viewer->row);
    free(viewer->needle);
    free(viewer->hits);
    *viewer = (struct viewer){0};
}

/* Lays out anew with the same text at the top. */
static void lay_out_anew(struct viewer *viewer)
{
    uint32_t byte = viewer->row_count ? viewer->row[0].from : 0;
    bool had_rows = viewer->row_count > 0;
    forget_layout(viewer);
    if (had_rows && viewer->top_line < line_count(viewer))
        viewer->top_row = viewer_row_of(viewer, viewer->top_line, byte);
    clamp_left(viewer);
    if (viewer->has_cursor && line_count(viewer))
        follow_cursor(viewer);
    viewer_settle(viewer);
}

void viewer_resize(struct viewer *viewer, int columns, int rows)
{
    columns = columns > 0 ? columns : 0;
    rows = rows > 0 ? rows : 0;
    if (columns == viewer->columns && rows == viewer->rows)
        return;
    viewer->columns = columns;
    viewer->rows = rows;
    viewer->row = mem_grow(viewer->row, (size_t)rows + 1, sizeof *viewer->row);
    lay_out_anew(viewer);
}

void viewer_set_wrap(struct viewer *viewer, bool wrap_all)
{
    viewer->wrap_all = wrap_all;
    lay_out_anew(viewer);
}

void viewer_scroll(struct viewer *viewer, int rows)
{
    if (!line_count(viewer))
        return;
    walk(viewer, &viewer->top_line, &viewer->top_row, rows);
    viewer_settle(viewer);
    if (viewer->has_cursor && viewer->row_count) {
        uint32_t first = viewer->row[0].line, last = viewer->row[viewer->row_count - 1].line;
        if (viewer->cursor < first)
            viewer->cursor = first;
        if (viewer->cursor > last)
            viewer->cursor = last;
    }
}

static void move_cursor(struct viewer *viewer, long by)
{
    long last = (long)line_count(viewer) - 1, to = (long)viewer->cursor + by;
    viewer->cursor = (uint32_t)(to < 0 ? 0 : to > last ? last : to);
}

void viewer_move(struct viewer *viewer, int by)
{
    if (!viewer->has_cursor || !line_count(viewer)) {
        viewer_scroll(viewer, by);
        return;
    }
    move_cursor(viewer, by);
    follow_cursor(viewer);
    viewer_settle(viewer);
}

void viewer_page(struct viewer *viewer, int pages)
{
    int page = viewer->rows > 1 ? viewer->rows - 1 : 1;
    if (!line_count(viewer))
        return;
    if (viewer->has_cursor)
        move_cursor(viewer, (long)pages * page);
    walk(viewer, &viewer->top_line, &viewer->top_row, (long)pages * page);
    if (viewer->has_cursor)
        follow_cursor(viewer);
    viewer_settle(viewer);
}

void viewer_home(struct viewer *viewer)
{
    viewer->top_line = viewer->top_row = viewer->left = viewer->cursor = 0;
    viewer_settle(viewer);
}

void viewer_end(struct viewer *viewer)
{
    if (!line_count(viewer))
        return;
    viewer->cursor = line_count(viewer) - 1;
    lowest_top(viewer, &viewer->top_line, &viewer->top_row);
    viewer_settle(viewer);
}

void viewer_go_line(struct viewer *viewer, uint32_t line)
{
    if (!line_count(viewer))
        return;
    viewer->cursor = line < line_count(viewer) ? line : line_count(viewer) - 1;
    viewer_reveal(viewer, viewer->cursor, 0);
    viewer_settle(viewer);
}

void viewer_sideways(struct viewer *viewer, int columns)
{
    long to = (long)viewer->left + columns;
    viewer->left = (uint32_t)(to < 0 ? 0 : to);
    clamp_left(viewer);
    viewer_settle(viewer);
}

void viewer_set_cursor(struct viewer *viewer, bool on)
{
    if (on && !viewer->has_cursor)
        viewer->cursor = viewer->top_line;
    viewer->has_cursor = on;
    viewer_settle(viewer);
}
