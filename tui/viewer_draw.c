#include "viewer.h"

#include "viewer_core.h"

#include <string.h>

/* One row while it is cut into pieces, character by character. */
struct brush {
    const struct viewer *viewer;
    const struct doc_line *line;
    uint32_t line_number;
    const char *text;
    size_t len;
    uint32_t span;               /* the span that the place is in */
    size_t span_end;             /* where that span ends */
    size_t match, match_end;     /* the match at or behind the place; SIZE_MAX when there is none */
    size_t current, current_end; /* the current match, when it is in this line; else both 0 */
    struct viewer_piece piece;   /* not given out yet; len 0 when there is none */
    viewer_piece_fn *draw;
    void *context;
};

static enum style style_at(struct brush *brush, size_t at)
{
    while (at >= brush->span_end && brush->span + 1 < brush->line->span_count) {
        brush->span++;
        brush->span_end += brush->line->spans[brush->span].len;
    }
    return (enum style)brush->line->spans[brush->span].style;
}

static void next_match(struct brush *brush, size_t from)
{
    size_t match_len = 0;
    brush->match = viewer_find(brush->viewer, brush->text, brush->len, from, &match_len);
    brush->match_end = brush->match == SIZE_MAX ? SIZE_MAX : brush->match + match_len;
}

static void find_current(struct brush *brush)
{
    const struct viewer *viewer = brush->viewer;
    if (!viewer->at_match || viewer->match_line != brush->line_number)
        return;
    next_match(brush, viewer->match_from);
    brush->current = brush->match;
    brush->current_end = brush->match_end;
}

/* A character is part of a match when any of its bytes is: marks go with their letter. */
static enum viewer_match match_at(struct brush *brush, size_t at, size_t end)
{
    while (brush->match_end <= at)
        next_match(brush, brush->match + 1);
    if (brush->current < end && brush->current_end > at)
        return MATCH_CURRENT;
    return brush->match < end ? MATCH_ONE : MATCH_NONE;
}

static void give_out(struct brush *brush)
{
    if (brush->piece.len)
        brush->draw(brush->context, &brush->piece);
    brush->piece.len = 0;
}

static void add(struct brush *brush, const char *text, size_t len, int column, int columns,
                enum style style, enum viewer_match match)
{
    struct viewer_piece *piece = &brush->piece;
    if (piece->len && piece->text + piece->len == text && piece->style == style &&
        piece->match == match && piece->column + piece->columns == column) {
        piece->len += (uint32_t)len;
        piece->columns += columns;
        return;
    }
    give_out(brush);
    *piece = (struct viewer_piece){.text = text,
                                   .len = (uint32_t)len,
                                   .column = column,
                                   .columns = columns,
                                   .style = style,
                                   .match = match};
}

/* Far enough before the row that no match which reaches into it is missed. */
static size_t match_start(const struct viewer *viewer, size_t from)
{
    size_t reach = viewer->needle_len * 3;
    return from > reach ? from - reach : 0;
}

static void draw_text(struct brush *brush, size_t at, size_t to, int column)
{
    static const char blank[] = " ";
    int width = brush->viewer->columns;
    while (at < to) {
        int columns;
        size_t bytes = text_cluster(brush->text + at, to - at, &columns);
        enum style style = style_at(brush, at);
        enum viewer_match match = match_at(brush, at, at + bytes);
        if (column + columns > width) {
            if (column < width)
                add(brush, blank, 1, column, 1, style, match);
            break;
        }
        add(brush, brush->text + at, bytes, column, columns, style, match);
        column += columns;
        at += bytes;
    }
    give_out(brush);
}

/* In front of a wrapped row stand blanks, and the bars of the quotes that the line is in. */
static void draw_bars(struct brush *brush, int indent)
{
    static const char bar[] = "│";
    int column = 0, columns;
    for (size_t at = 0; at < brush->len && column < indent; column += columns) {
        size_t bytes = text_cluster(brush->text + at, brush->len - at, &columns);
        enum style style = style_at(brush, at);
        if (style == STYLE_QUOTE && bytes == strlen(bar) &&
            memcmp(brush->text + at, bar, bytes) == 0)
            add(brush, bar, bytes, column, columns, style, MATCH_NONE);
        at += bytes;
    }
    give_out(brush);
}

void viewer_draw_row(const struct viewer *viewer, int number, viewer_piece_fn *draw, void *context)
{
    if (number < 0 || number >= viewer->row_count || viewer->columns <= 0)
        return;
    const struct viewer_row *row = &viewer->row[number];
    const struct doc_line *line = &viewer->doc->lines[row->line];
    struct brush brush = {
        .viewer = viewer, .line = line, .line_number = row->line, .draw = draw, .context = context};
    brush.text = doc_line_text(line, &brush.len);
    if (!brush.len)
        return;
    brush.span_end = line->spans[0].len;
    size_t from = row->from;
    int column = row->indent;
    if (viewer_keeps(viewer, line) && viewer->left) {
        int used;
        from = text_fit(brush.text, brush.len, (int)viewer->left, &used);
        if (from < brush.len && used < (int)viewer->left) {
            int columns;
            enum style style = style_at(&brush, from);
            from += text_cluster(brush.text + from, brush.len - from, &columns);
            column = used + columns - (int)viewer->left;
            add(&brush, " ", 1, 0, column, style, MATCH_NONE);
        }
    }
    if (!row->first)
        draw_bars(&brush, row->indent);
    find_current(&brush);
    next_match(&brush, match_start(viewer, from));
    draw_text(&brush, from, row->to, column);
}

const struct doc_line *viewer_row_line(const struct viewer *viewer, int number, bool *cursor,
                                       bool *more_left, bool *more_right)
{
    if (number < 0 || number >= viewer->row_count)
        return NULL;
    const struct viewer_row *row = &viewer->row[number];
    const struct doc_line *line = &viewer->doc->lines[row->line];
    bool keeps = viewer_keeps(viewer, line);
    if (cursor)
        *cursor = viewer->has_cursor && viewer->cursor == row->line;
    if (more_left)
        *more_left = keeps && viewer->left > 0 && line->columns > 0;
    if (more_right)
        *more_right = keeps && line->columns > viewer->left + (uint32_t)viewer->columns;
    return line;
}

const struct doc_line *viewer_current(const struct viewer *viewer)
{
    if (!viewer->doc || !viewer->doc->line_count)
        return NULL;
    return &viewer->doc->lines[viewer->has_cursor ? viewer->cursor : viewer->top_line];
}

int viewer_percent(const struct viewer *viewer)
{
    if (!viewer->row_count || !viewer->doc)
        return 100;
    const struct viewer_row *last = &viewer->row[viewer->row_count - 1];
    const struct doc_line *line = &viewer->doc->lines[last->line];
    size_t len, shown = last->to;
    const char *text = doc_line_text(line, &len);
    while (shown < len && text[shown] == ' ')
        shown++;
    if (last->line + 1 == viewer->doc->line_count && shown == len)
        return 100;
    return (int)((uint64_t)viewer->top_line * 100 / viewer->doc->line_count);
}
