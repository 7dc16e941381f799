/* For tests: a doc as text, with the style of each span in front of it. */
#ifndef STRIDE_TESTS_DOC_DUMP_H
#define STRIDE_TESTS_DOC_DUMP_H

#include "tui/doc.h"

#include "harness/base/buf.h"

#include <string.h>

static const char *const style_names[] = {
#define X(symbol, name) name,
#include "tui/styles.def"
#undef X
};

/* "[opcode]ld.global[normal] ..." with normal and code left bare after another style: each change
 * of style is written, "normal" as []. */
static inline void dump_line(struct buf *out, const struct doc_line *line)
{
    const char *text = line->text;
    for (uint32_t i = 0; i < line->span_count; text += line->spans[i++].len) {
        const struct span *span = &line->spans[i];
        buf_printf(out, "[%s]", span->style == STYLE_NORMAL ? "" : style_names[span->style]);
        buf_add(out, text, span->len);
    }
}

/* The text alone, lines ended by '\n'. */
static inline void dump_text(struct buf *out, const struct doc *doc)
{
    for (size_t i = 0; i < doc->line_count; i++) {
        size_t len;
        const char *text = doc_line_text(&doc->lines[i], &len);
        buf_add(out, text, len);
        buf_add_char(out, '\n');
    }
}

#endif
