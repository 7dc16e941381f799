#include "markup_table.h"

#include "wrap.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS_MAX = 64, /* of a table; more are left out */
    WIDTH_MAX = 200   /* of a column; wider cells are wrapped */
};

void markup_table_row(struct markup_table *table)
{
    table->rows++;
    table->columns = 0;
}

void markup_table_add(struct markup_table *table, enum markup_align align)
{
    if (++table->columns > COLUMNS_MAX)
        return;
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? table->capacity * 2 : 16;
        table->cells = mem_grow(table->cells, table->capacity, sizeof *table->cells);
    }
    table->cells[table->count++] = (struct markup_cell){.align = align, .row = table->rows};
}

struct doc *markup_table_cell(struct markup_table *table)
{
    return table->columns <= COLUMNS_MAX ? &table->cells[table->count - 1].doc : NULL;
}

bool markup_table_in_head(const struct markup_table *table)
{
    return table->rows == 1;
}

static int cell_columns(const struct markup_cell *cell)
{
    return cell->doc.line_count ? (int)cell->doc.lines[0].columns : 0;
}

static void add_blanks(struct doc *doc, int count)
{
    if (count > 0)
        doc_printf(doc, STYLE_NORMAL, "%*s", count, "");
}

/* The bytes `from` to `to` of the cell's line, in their styles. */
static void add_text(struct doc *doc, const struct doc_line *line, uint32_t from, uint32_t to)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < line->span_count && at < to; at += line->spans[i++].len) {
        uint32_t end = at + line->spans[i].len, begin = from > at ? from : at;
        end = end < to ? end : to;
        if (begin < end)
            doc_add(doc, (enum style)line->spans[i].style, line->text + begin, end - begin);
    }
}

/* One of the rows that the cell was wrapped into; blanks where it has fewer. */
static void add_cell(struct doc *doc, const struct markup_cell *cell, const struct wrap *wrap,
                     size_t row, int width, bool last)
{
    int used = 0, before = 0;
    const struct wrap_row *part = row < wrap->count ? &wrap->rows[row] : NULL;
    if (part && part->to > part->from)
        used = text_columns(cell->doc.lines[0].text + part->from, part->to - part->from);
    if (used && cell->align == ALIGN_RIGHT)
        before = width - used;
    else if (used && cell->align == ALIGN_CENTER)
        before = (width - used) / 2;
    add_blanks(doc, before);
    if (used)
        add_text(doc, cell->doc.lines, part->from, part->to);
    if (!last)
        add_blanks(doc, width - before - used);
}

static void add_rule(struct doc *doc, const int *widths, size_t columns, int indent)
{
    struct buf rule = {0};
    for (size_t c = 0; c < columns; c++) {
        if (c)
            buf_add_str(&rule, "─┼─");
        for (int i = 0; i < widths[c]; i++)
            buf_add_str(&rule, "─");
    }
    add_blanks(doc, indent);
    doc_add_str(doc, STYLE_RULE, buf_str(&rule));
    doc_end_line(doc)->keep = true;
    buf_free(&rule);
}

static void wrap_cell(struct wrap *out, const struct markup_cell *cell, int width)
{
    width = width > 0 ? width : 1;
    if (cell->doc.line_count)
        wrap_line(out, cell->doc.lines, width, 0);
    else
        wrap_text(out, "", 0, width, 0);
}

/* Lines that the table would take; a word that is cut counts for many. */
static size_t lines_of(const struct markup_table *table, const int *widths)
{
    enum { CUT_WORD = 20 };
    size_t lines = 0, height = 0;
    struct wrap wrap = {0};
    for (size_t i = 0, c = 0; i < table->count; i++) {
        bool first = i == 0 || table->cells[i].row != table->cells[i - 1].row;
        c = first ? 0 : c + 1;
        lines += first ? height : 0;
        height = first ? 0 : height;
        wrap_cell(&wrap, &table->cells[i], widths[c]);
        height = wrap.count > height ? wrap.count : height;
        const char *text = table->cells[i].doc.line_count ? table->cells[i].doc.lines[0].text : "";
        for (size_t r = 1; r < wrap.count; r++)
            if (wrap.rows[r].from == wrap.rows[r - 1].to &&
                (signed char)text[wrap.rows[r].from] > 0)
                lines += CUT_WORD;
    }
    wrap_free(&wrap);
    return lines + height;
}

static int total_of(const int *widths, size_t columns)
{
    int total = 3 * (int)(columns - 1);
    for (size_t c = 0; c < columns; c++)
        total += widths[c];
    return total;
}

enum {
    NARROWEST = 8,    /* columns of text worth reading */
    TRIED_MOST = 2000 /* cells of a table for which each column is tried */
};

/* The widest columns made equally narrow; false when that would leave nothing to read. */
static bool narrow_all(int *widths, size_t columns, int room)
{
    int most = WIDTH_MAX;
    while (most >= NARROWEST && total_of(widths, columns) > room) {
        most--;
        for (size_t c = 0; c < columns; c++)
            widths[c] = widths[c] < most ? widths[c] : most;
    }
    return most >= NARROWEST;
}

/* Narrows one column, or the widest ones, whichever takes fewer lines. A table for which there are
 * too many columns stays as it is, and is scrolled sideways. */
static void fit(const struct markup_table *table, int *widths, size_t columns, int room)
{
    int best[COLUMNS_MAX], excess = total_of(widths, columns) - room;
    if (excess <= 0)
        return;
    memcpy(best, widths, sizeof best);
    size_t least = narrow_all(best, columns, room) ? lines_of(table, best) : SIZE_MAX;
    for (size_t c = 0, from = 0; c < columns && table->count <= TRIED_MOST; c++) {
        if (widths[c] - excess < NARROWEST)
            continue;
        widths[c] -= excess;
        size_t lines = lines_of(table, widths);
        if (lines < least || (lines == least && (size_t)widths[c] > from)) {
            least = lines;
            from = (size_t)widths[c];
            memcpy(best, widths, sizeof best);
        }
        widths[c] += excess;
    }
    if (least < SIZE_MAX)
        memcpy(widths, best, sizeof best);
}

/* Adds one row of the table, which takes as many lines as its highest cell. */
static void add_row(struct doc *doc, const struct markup_cell *cells, size_t count,
                    const int *widths, size_t columns, int indent)
{
    struct wrap wraps[COLUMNS_MAX] = {0};
    size_t height = 1;
    for (size_t c = 0; c < count; c++) {
        wrap_cell(&wraps[c], &cells[c], widths[c]);
        height = wraps[c].count > height ? wraps[c].count : height;
    }
    for (size_t i = 0; i < height; i++) {
        add_blanks(doc, indent);
        for (size_t c = 0; c < columns; c++) {
            if (c)
                doc_add_str(doc, STYLE_RULE, " │ ");
            add_cell(doc, c < count ? &cells[c] : NULL, &wraps[c], i, widths[c], c + 1 == columns);
        }
        doc_end_line(doc)->keep = true;
    }
    for (size_t c = 0; c < count; c++)
        wrap_free(&wraps[c]);
}

void markup_table_finish(struct markup_table *table, struct doc *doc, int indent, int room)
{
    int widths[COLUMNS_MAX] = {0};
    size_t columns = 0;
    for (size_t i = 0, c = 0; i < table->count; i++) {
        c = i && table->cells[i].row == table->cells[i - 1].row ? c + 1 : 0;
        columns = c + 1 > columns ? c + 1 : columns;
        int width = cell_columns(&table->cells[i]);
        width = width < WIDTH_MAX ? width : WIDTH_MAX;
        widths[c] = width > widths[c] ? width : widths[c];
    }
    if (room > 0 && columns)
        fit(table, widths, columns, room - indent);
    size_t at = 0;
    for (unsigned row = 1; row <= table->rows && columns; row++) {
        size_t count = 0;
        while (at + count < table->count && table->cells[at + count].row == row)
            count++;
        add_row(doc, table->cells + at, count, widths, columns, indent);
        at += count;
        if (row == 1)
            add_rule(doc, widths, columns, indent);
    }
    for (size_t i = 0; i < table->count; i++)
        doc_free(&table->cells[i].doc);
    table->count = 0;
    table->rows = 0;
}

void markup_table_free(struct markup_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        doc_free(&table->cells[i].doc);
    free(table->cells);
    *table = (struct markup_table){0};
}
