/* Guard zones: memory on both sides of each buffer that no kernel has a right to touch. What is
 * found changed there afterwards was an access outside the buffer.
 *
 * Nothing is owned here; the zones lie in the caller's allocations and their copies on the host.
 *
 * A back end whose own bounds are exact (the simulator) gets no guards: width 0. */
#ifndef STRIDE_HARNESS_GUARD_H
#define STRIDE_HARNESS_GUARD_H

#include "harness/backend.h"
#include "harness/lab.h"

/* Bytes on each side. The buffer itself starts this far into its allocation. */
size_t guard_width(const struct backend *backend);

/* Bytes of a buffer, and of its allocation with both guards: a multiple of 4 when it has any. */
size_t guard_buffer_bytes(const struct lab_buffer *buffer);
size_t guard_allocation(const struct backend *backend, const struct lab_buffer *buffer);

struct guarded { /* an allocation's copy on the host */
    const void *copy;
    size_t bytes, width; /* of the buffer; of each guard */
    uint32_t pattern;    /* what the whole allocation was filled with */
};

/* Looks for the changed byte nearest to the buffer, before its start or after its end. Its distance
 * goes to *offset: the last byte of the guard before the buffer is at 1, the first behind it at 0.
 */
bool guard_overrun(size_t *offset, const struct guarded *guarded, bool before);

#endif
