#include "markup_table.h"

#include "harness/base/buf.h"

#include <stdlib.h>

enum {
    COLUMNS_MAX = 64, /* of a table; more are left out */
    WIDTH_MAX = 200   /* a wider cell pushes its row, and no other, to the right */
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

static void add_cell(struct doc *doc, const struct markup_cell *cell, int width, bool last)
{
    int spare = width - (cell ? cell_columns(cell) : 0), before = 0;
    if (cell && cell->align == ALIGN_RIGHT)
        before = spare;
    else if (cell && cell->align == ALIGN_CENTER)
        before = spare / 2;
    add_blanks(doc, before);
    const struct doc_line *line = cell && cell->doc.line_count ? cell->doc.lines : NULL;
    const char *text = line ? line->text : NULL;
    for (uint32_t i = 0; line && i < line->span_count; text += line->spans[i++].len)
        doc_add(doc, (enum style)line->spans[i].style, text, line->spans[i].len);
    if (!last)
        add_blanks(doc, spare - before);
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

void markup_table_finish(struct markup_table *table, struct doc *doc, int indent)
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
    size_t at = 0;
    for (unsigned row = 1; row <= table->rows && columns; row++) {
        add_blanks(doc, indent);
        for (size_t c = 0; c < columns; c++) {
            if (c)
                doc_add_str(doc, STYLE_RULE, " │ ");
            bool here = at < table->count && table->cells[at].row == row;
            add_cell(doc, here ? &table->cells[at] : NULL, widths[c], c + 1 == columns);
            at += here;
        }
        doc_end_line(doc)->keep = true;
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
