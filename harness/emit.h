/* The events of docs/record.md, written to the reader as they happen.
 *
 * A struct emit borrows the descriptor; it owns the nonce. JSON given to a function is taken over
 * (its reference is stolen), strings are borrowed and cleaned.
 *
 * It never buffers: an event that was emitted is out, so a crash costs only what came after it. A
 * reader that went away ends the program, since nobody is left to work for. */
#ifndef STRIDE_HARNESS_EMIT_H
#define STRIDE_HARNESS_EMIT_H

#include "harness/base/err.h"
#include "harness/base/verdict.h"

#include <jansson.h>
#include <stdarg.h>

enum { EMIT_FD = 3 };

struct emit {
    int fd;
    char *nonce; /* NULL until a job came */
};

/* False when descriptor 3 is not open. It will not be inherited by children. */
bool emit_open(struct emit *emit, struct err *err);
void emit_close(struct emit *emit);

void emit_ready(struct emit *emit, double ms);
void emit_begin(struct emit *emit, const char *stage);
void emit_done(struct emit *emit, const char *stage, double ms);
void emit_done_within(struct emit *emit, const char *stage,
                      const char *other); /* no time of its own */
void emit_skip(struct emit *emit, const char *stage, const char *why);
void emit_set(struct emit *emit, json_t *members);                 /* merged into the record */
void emit_add(struct emit *emit, const char *array, json_t *item); /* appended to record[array] */
void emit_note(struct emit *emit, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emit_end(struct emit *emit, enum verdict verdict, const char *summary);

#endif
