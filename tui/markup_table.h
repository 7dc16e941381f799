/* A Markdown table while it is read, and its layout once the widths are known.
 *
 * The table owns its cells; finish adds the rows to the doc and empties the table for the next one.
 *
 * For markup.c only. Rows are kept lines: cells are wrapped here, within their columns, so that the
 * table fits. */
#ifndef STRIDE_TUI_MARKUP_TABLE_H
#define STRIDE_TUI_MARKUP_TABLE_H

#include "doc.h"

/* In the order of md4c's MD_ALIGN. */
enum markup_align { ALIGN_DEFAULT, ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };

struct markup_cell {
    struct doc doc; /* at most one line */
    enum markup_align align;
    unsigned row;
};

struct markup_table {
    struct markup_cell *cells;
    size_t count, capacity;
    unsigned rows, columns; /* rows begun, cells of the newest row */
};

void markup_table_row(struct markup_table *table);
void markup_table_add(struct markup_table *table, enum markup_align align);
struct doc *markup_table_cell(
    struct markup_table *table); /* the newest cell's, NULL for one too many */
bool markup_table_in_head(const struct markup_table *table);

/* Adds the table behind `indent` blanks, within `room` columns if it can; 0: as wide as it is. */
void markup_table_finish(struct markup_table *table, struct doc *doc, int indent, int room);
void markup_table_free(struct markup_table *table);

#endif
