/* The host's own accesses to pinned memory that a queued operation still needs: such pages are
 * protected, so that the first instruction that touches them is seen, with its line, and then goes
 * on.
 *
 * The simulated runtime allocates pinned memory here and says which operation needs which bytes
 * until when; it reads and writes them through guard_view, which no protection bars. All functions
 * may be called from any thread. Reports are kept until guard_take.
 *
 * It reports only what certainly was one of the student's accesses to bytes in flight; it never
 * changes what an access does, and a real crash stays one. Where instructions can't be stepped
 * (everywhere but x86-64), a page is watched for its first access only. */
#ifndef STRIDE_HOST_SIM_GUARD_H
#define STRIDE_HOST_SIM_GUARD_H

#include "span.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Page-aligned, zeroed. NULL when there is no memory. */
void *guard_alloc(size_t bytes);
bool guard_free(void *at); /* false when guard_alloc didn't give it, or it was freed */

/* Memory of the student's own, made pinned: only pages that lie in it wholly are watched. False
 * when it overlaps another one, or isn't known. */
bool guard_register(void *at, size_t bytes);
bool guard_unregister(void *at);

/* From now on `operation` needs these bytes: it writes them, or reads them. Bytes outside pinned
 * memory are ignored. `line` queued it. */
struct guard_need {
    uint64_t operation;
    const void *at;
    size_t bytes;
    bool written;
    enum span_kind kind;
    int line;
};
void guard_need(const struct guard_need *need);

/* The host has waited for it, one way or another. */
void guard_settle(uint64_t operation);
void guard_settle_all(void);

/* Where Stride itself may read and write these bytes: `at` itself when they aren't pinned, or not
 * all in one piece. Valid until the memory is given back. */
void *guard_view(const void *at, size_t bytes);

/* A whole range that the student's code is about to read or write, from this line; for functions
 * that know their range, such as memcpy. */
void guard_touch(const void *at, size_t bytes, bool write, int line);
bool guard_idle(void); /* nothing is needed by anything: guard_touch would find nothing */

/* What was found since the last call, one object for each pair of lines, as in docs/record.md;
 * adds to the array. */
void guard_take(json_t *hazards);

#endif
