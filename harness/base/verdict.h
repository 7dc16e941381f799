/* What became of an attempt, or of one case of it.
 *
 * Verdicts are plain values; names and meanings are static strings.
 *
 * A verdict is about the student's kernel. What Stride itself fails to do is a struct err. */
#ifndef STRIDE_BASE_VERDICT_H
#define STRIDE_BASE_VERDICT_H

#include <stdbool.h>

enum verdict {
#define X(symbol, name, status, mark, meaning) VERDICT_##symbol,
#include "verdict.def"
#undef X
    VERDICT_COUNT
};

const char *verdict_name(enum verdict verdict);    /* "no-build", as in the record */
const char *verdict_mark(enum verdict verdict);    /* one ASCII character */
const char *verdict_meaning(enum verdict verdict); /* in the student's language */
int verdict_exit_status(enum verdict verdict);     /* 0 only for pass; docs/record.md lists them */

/* The verdict of that name; false when there is none. */
bool verdict_parse(enum verdict *out, const char *name);

/* Of two verdicts, the one that explains more. */
enum verdict verdict_worse(enum verdict a, enum verdict b);

#endif
