/* Where the rows of a long line end.
 *
 * The result owns its array; wrap_free gives it back. The text is borrowed and only read.
 *
 * It breaks where Unicode allows (no row begins with ，or 。, none ends with （), not between a
 * number and its unit, inside a word only when the word is wider than the row, and never inside a
 * character. */
#ifndef STRIDE_TUI_WRAP_H
#define STRIDE_TUI_WRAP_H

#include "doc.h"

#include <stddef.h>
#include <stdint.h>

struct wrap_row {
    uint32_t from, to; /* bytes; blanks at the end of a row are left out */
};

struct wrap {
    struct wrap_row *rows;
    size_t count, capacity;
};

/* Fills the rows of a text for `columns` >= 1; rows after the first are `indent` columns narrower
 * (but keep half of the width). There is always at least one row. */
void wrap_text(struct wrap *out, const char *text, size_t len, int columns, int indent);

/* The same for a line in styles: names in code (cross-stream) stay whole too. */
void wrap_line(struct wrap *out, const struct doc_line *line, int columns, int indent);
void wrap_free(struct wrap *wrap);

/* The indent that wrap_text really uses. */
int wrap_indent(int columns, int indent);

#endif
