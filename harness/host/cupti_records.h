/* What CUPTI's activity records say, as spans. Only fields that lie at the same place in every
 * version from CUDA 12.0 to 13.0 are read; cupti_records.c says from which headers they were taken.
 *
 * A struct cupti_log owns what was noted; a record's bytes are not kept.
 *
 * Pure: it opens no library and calls nothing of CUDA. */
#ifndef STRIDE_HOST_CUPTI_RECORDS_H
#define STRIDE_HOST_CUPTI_RECORDS_H

#include "span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CUpti_ActivityKind of the records that are read. */
enum cupti_kind {
    CUPTI_KIND_MEMCPY = 1,
    CUPTI_KIND_MEMSET = 2,
    CUPTI_KIND_KERNEL = 3,
    CUPTI_KIND_RUNTIME = 5,
    CUPTI_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_KIND_SYNCHRONIZATION = 38,
    CUPTI_KIND_EXTERNAL_CORRELATION = 39,
};

/* Something on the device, or a wait of the host or of a stream. Times in nanoseconds. */
struct cupti_op {
    enum span_kind kind;
    uint64_t from, to, bytes;
    uint32_t stream, correlation, graph; /* graph: CUPTI's number of the executable graph */
    bool pageable, async, host;          /* host: the host waits, not a stream */
    char name[128];                      /* a kernel's, as the linker knows it; a call's */
};

/* A call of the runtime: when, and (from an external correlation) from where. */
struct cupti_call {
    uint32_t correlation;
    uint64_t from, to;
    const void *site;
};

struct cupti_log {
    struct cupti_op *ops;
    struct cupti_call *calls;
    size_t op_count, op_capacity, call_count, call_capacity;
};

/* Takes in one record; kinds that mean nothing here change nothing. */
void cupti_log_add(struct cupti_log *log, const void *record);
void cupti_log_free(struct cupti_log *log);

struct cupti_reading {
    uint32_t default_stream;          /* CUPTI's number of the default stream */
    int (*line_of)(const void *site); /* may be NULL */
    void (*plain)(const char *name, char *out, size_t len); /* demangles; may be NULL */
};

/* The spans, sorted by time, the first at 0. Streams are numbered by first use, graph launches
 * too. */
void cupti_log_spans(struct cupti_log *log, const struct cupti_reading *reading, struct spans *out);

#endif
