/* What the files of the viewer share: layout and search of single lines.
 *
 * Everything belongs to the viewer; what is returned is borrowed from it.
 *
 * For viewer*.c only. */
#ifndef STRIDE_TUI_VIEWER_CORE_H
#define STRIDE_TUI_VIEWER_CORE_H

#include "viewer.h"

/* Rows that a line takes in the window. */
uint32_t viewer_height(struct viewer *viewer, uint32_t line);

/* The row of the line in which the byte stands. */
uint32_t viewer_row_of(struct viewer *viewer, uint32_t line, uint32_t byte);

/* Puts the top so that the row is visible; when it was not, about a third down. Does not settle. */
void viewer_reveal(struct viewer *viewer, uint32_t line, uint32_t row);

/* Keeps top, left and cursor inside the doc and lays out the visible rows. Ends every change. */
void viewer_settle(struct viewer *viewer);

/* The first match in the text at or behind `from`; SIZE_MAX when there is none. Matches may
 * overlap. */
size_t viewer_find(const struct viewer *viewer, const char *text, size_t len, size_t from,
                   size_t *match_len);

/* Searches the whole doc again. */
void viewer_collect(struct viewer *viewer);

/* Whether the line is scrolled sideways instead of wrapped. */
static inline bool viewer_keeps(const struct viewer *viewer, const struct doc_line *line)
{
    return line->keep && !viewer->wrap_all;
}

#endif
