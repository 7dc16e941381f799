/* What happened on the device and when: the bars of a host lab's timeline, from CUPTI or from the
 * simulated runtime's virtual clock.
 *
 * A struct spans owns its array; names are copied. Times are microseconds from any common origin.
 *
 * It draws nothing: timeline.c makes the record's `timeline` of it. */
#ifndef STRIDE_HOST_SPAN_H
#define STRIDE_HOST_SPAN_H

#include <stddef.h>
#include <stdint.h>

enum span_kind {
    SPAN_H2D,
    SPAN_D2H,
    SPAN_D2D,
    SPAN_MEMSET,
    SPAN_KERNEL,
    SPAN_HOST, /* a callback on the host */
    SPAN_WAIT, /* a stream that waits for an event, or the host that waits for the device */
    SPAN_KINDS
};

enum { SPAN_HOST_ROW = UINT32_MAX }; /* as `stream`: the host itself */

struct span {
    enum span_kind kind;
    double from_us, to_us;
    uint32_t stream;   /* numbered as they were first used, 0 is the default stream */
    uint32_t graph;    /* number of the graph launch it belongs to, from 1; 0 for none */
    uint64_t bytes;    /* copied or set; 0 for kernels */
    uint32_t pageable; /* a copy from or to pageable memory */
    int line;          /* the student's line that queued it, 0 when unknown */
    char name[48];     /* the kernel's name, demangled and cut */
};

struct spans {
    struct span *items;
    size_t count, capacity;
};

void spans_add(struct spans *spans, const struct span *span); /* a copy of it */
void spans_free(struct spans *spans);
const char *span_kind_name(enum span_kind kind); /* "h2d"; static */

#endif
