/* What an instruction does, in a sentence: PTX and SASS opcodes, what follows their dots, and
 * special registers, from assets/glossary.json.
 *
 * A glossary owns its entries until glossary_close; explanations go to the caller's buffer.
 *
 * It explains words, not programs: it knows nothing of what the kernel computes. */
#ifndef STRIDE_TUI_GLOSSARY_H
#define STRIDE_TUI_GLOSSARY_H

#include "doc.h"

#include "harness/base/buf.h"
#include "harness/base/err.h"
#include "harness/base/labfile.h"

#include <stdbool.h>
#include <stddef.h>

struct glossary;

/* Reads ROOT/assets/glossary.json. */
bool glossary_open(struct glossary **out, const char *root, struct err *err);
void glossary_close(struct glossary *glossary);

/* Appends "cp.async.cg: what it does · .L2::128B: ..." for an opcode, in the language of
 * msg_language(): the longest part that the glossary knows, then what it knows of the rest. False,
 * and nothing appended, when it knows none of it. `glossary` may be NULL, which knows nothing. */
bool glossary_explain_opcode(const struct glossary *glossary, enum lab_listing kind,
                             const char *opcode, size_t len, struct buf *out);

/* The same for the instruction on a line of a listing (listing.h), with its special registers. */
bool glossary_explain(const struct glossary *glossary, enum lab_listing kind,
                      const struct doc_line *line, struct buf *out);

#endif
