/* How to read it: FIELD fetches a field of a record by its offset. The offsets were taken with
 * offsetof from the CUPTI headers of CUDA 13.0 (extras/CUPTI/include/cupti_activity.h and
 * cupti_activity_deprecated.h, CUPTI_API_VERSION 130001), which declare the older layouts too:
 *
 *   CUpti_ActivityKernel6 .. 10       start 16, end 24, streamId 48, correlationId 92, name 104,
 *                                     graphId 156
 *   CUpti_ActivityMemcpy4 .. 6        copyKind 4, srcKind 5, dstKind 6, flags 7, bytes 8, start 16,
 *                                     end 24, streamId 40, correlationId 44, graphId 72
 *   CUpti_ActivityMemset3, 4          bytes 8, start 16, end 24, streamId 40, correlationId 44,
 *                                     graphId 72
 *   CUpti_ActivitySynchronization, 2  type 4, start 8, end 16, correlationId 24, streamId 32
 *   CUpti_ActivityAPI                 start 8, end 16, correlationId 32
 *   CUpti_ActivityExternalCorrelation externalKind 4, externalId 8, correlationId 16
 *
 * CUDA 12.0 writes Kernel8 or 9, Memcpy5, Memset4, Synchronization; 13.0 the newest of each. Every
 * record begins with its kind, four bytes; all numbers are the machine's own. */
#include "cupti_records.h"

#include "harness/base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(type, record, offset) (*(type *)field(record, offset, &(type){0}, sizeof(type)))

static void *field(const void *record, size_t offset, void *to, size_t size)
{
    return memcpy(to, (const char *)record + offset, size); /* records need not be aligned */
}

enum { COPY_HTOD = 1, COPY_DTOH, COPY_HTOA, COPY_ATOH, COPY_ATOA, COPY_ATOD, COPY_DTOA, COPY_DTOD };
enum { COPY_PTOP = 10, MEMORY_PAGEABLE = 1, FLAG_ASYNC = 1 };
enum { SYNC_EVENT = 1, SYNC_STREAM_WAITS, SYNC_STREAM, SYNC_CONTEXT };

static struct cupti_op *add_op(struct cupti_log *log)
{
    if (log->op_count == log->op_capacity) {
        log->op_capacity = log->op_capacity ? log->op_capacity * 2 : 256;
        log->ops = mem_grow(log->ops, log->op_capacity, sizeof *log->ops);
    }
    struct cupti_op *op = &log->ops[log->op_count++];
    *op = (struct cupti_op){.kind = SPAN_KERNEL};
    return op;
}

/* The call's two records (its times, and who called) may come in either order. */
static void add_call(struct cupti_log *log, const struct cupti_call *call)
{
    struct cupti_call *last = log->call_count ? &log->calls[log->call_count - 1] : NULL;
    if (last && last->correlation == call->correlation) {
        last->site = call->site ? call->site : last->site;
        if (call->to) {
            last->from = call->from;
            last->to = call->to;
        }
        return;
    }
    if (log->call_count == log->call_capacity) {
        log->call_capacity = log->call_capacity ? log->call_capacity * 2 : 256;
        log->calls = mem_grow(log->calls, log->call_capacity, sizeof *log->calls);
    }
    log->calls[log->call_count++] = *call;
}

static void add_kernel(struct cupti_log *log, const void *record)
{
    struct cupti_op *op = add_op(log);
    const char *name = FIELD(const char *, record, 104);
    op->from = FIELD(uint64_t, record, 16);
    op->to = FIELD(uint64_t, record, 24);
    op->stream = FIELD(uint32_t, record, 48);
    op->correlation = FIELD(uint32_t, record, 92);
    op->graph = FIELD(uint32_t, record, 156);
    snprintf(op->name, sizeof op->name, "%s", name ? name : "");
}

static void add_copy(struct cupti_log *log, const void *record)
{
    enum span_kind kind;
    switch (FIELD(uint8_t, record, 4)) {
    case COPY_HTOD:
    case COPY_HTOA:
        kind = SPAN_H2D;
        break;
    case COPY_DTOH:
    case COPY_ATOH:
        kind = SPAN_D2H;
        break;
    case COPY_ATOA:
    case COPY_ATOD:
    case COPY_DTOA:
    case COPY_DTOD:
    case COPY_PTOP:
        kind = SPAN_D2D;
        break;
    default:
        return; /* from host to host: no engine has to do with it */
    }
    struct cupti_op *op = add_op(log);
    op->kind = kind;
    op->pageable = FIELD(uint8_t, record, kind == SPAN_H2D ? 5 : 6) == MEMORY_PAGEABLE;
    op->async = FIELD(uint8_t, record, 7) & FLAG_ASYNC;
    op->bytes = FIELD(uint64_t, record, 8);
    op->from = FIELD(uint64_t, record, 16);
    op->to = FIELD(uint64_t, record, 24);
    op->stream = FIELD(uint32_t, record, 40);
    op->correlation = FIELD(uint32_t, record, 44);
    op->graph = FIELD(uint32_t, record, 72);
}

static void add_memset(struct cupti_log *log, const void *record)
{
    struct cupti_op *op = add_op(log);
    op->kind = SPAN_MEMSET;
    op->bytes = FIELD(uint64_t, record, 8);
    op->from = FIELD(uint64_t, record, 16);
    op->to = FIELD(uint64_t, record, 24);
    op->stream = FIELD(uint32_t, record, 40);
    op->correlation = FIELD(uint32_t, record, 44);
    op->graph = FIELD(uint32_t, record, 72);
}

static void add_wait(struct cupti_log *log, const void *record)
{
    uint32_t type = FIELD(uint32_t, record, 4);
    if (type < SYNC_EVENT || type > SYNC_CONTEXT)
        return;
    struct cupti_op *op = add_op(log);
    op->kind = SPAN_WAIT;
    op->host = type != SYNC_STREAM_WAITS;
    op->from = FIELD(uint64_t, record, 8);
    op->to = FIELD(uint64_t, record, 16);
    op->correlation = FIELD(uint32_t, record, 24);
    op->stream = FIELD(uint32_t, record, 32);
    snprintf(op->name, sizeof op->name, "%s",
             type == SYNC_EVENT     ? "cudaEventSynchronize"
             : type == SYNC_STREAM  ? "cudaStreamSynchronize"
             : type == SYNC_CONTEXT ? "cudaDeviceSynchronize"
                                    : "");
}

void cupti_log_add(struct cupti_log *log, const void *record)
{
    switch (FIELD(uint32_t, record, 0)) {
    case CUPTI_KIND_KERNEL:
    case CUPTI_KIND_CONCURRENT_KERNEL:
        add_kernel(log, record);
        break;
    case CUPTI_KIND_MEMCPY:
        add_copy(log, record);
        break;
    case CUPTI_KIND_MEMSET:
        add_memset(log, record);
        break;
    case CUPTI_KIND_SYNCHRONIZATION:
        add_wait(log, record);
        break;
    case CUPTI_KIND_RUNTIME:
        add_call(log, &(struct cupti_call){.correlation = FIELD(uint32_t, record, 32),
                                           .from = FIELD(uint64_t, record, 8),
                                           .to = FIELD(uint64_t, record, 16)});
        break;
    case CUPTI_KIND_EXTERNAL_CORRELATION:
        add_call(log,
                 &(struct cupti_call){.correlation = FIELD(uint32_t, record, 16),
                                      .site = (const void *)(uintptr_t)FIELD(uint64_t, record, 8)});
        break;
    default:
        break;
    }
}

void cupti_log_free(struct cupti_log *log)
{
    free(log->ops);
    free(log->calls);
    *log = (struct cupti_log){0};
}

/* ---- calls by their correlation */

static int by_correlation(const void *left, const void *right)
{
    const struct cupti_call *a = left, *b = right;
    return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

/* Sorts, and makes one of records of the same call that did not come together. */
static void sort_calls(struct cupti_log *log)
{
    size_t count = log->call_count;
    if (count)
        qsort(log->calls, count, sizeof *log->calls, by_correlation);
    log->call_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct cupti_call call = log->calls[i];
        add_call(log, &call); /* never writes beyond what was read */
    }
}

static const struct cupti_call *call_of(const struct cupti_log *log, uint32_t correlation)
{
    struct cupti_call key = {.correlation = correlation};
    return log->call_count ? bsearch(&key, log->calls, log->call_count, sizeof key, by_correlation)
                           : NULL;
}

/* ---- operations on the device */

static bool on_device(const struct cupti_op *op)
{
    return op->kind != SPAN_WAIT && op->to >= op->from && op->from > 0;
}

static int by_start(const void *left, const void *right)
{
    const struct cupti_op *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

/* Small numbers for CUPTI's, in the order in which they are asked for. */
struct numbers {
    uint64_t *items;
    size_t count, capacity;
};

static uint32_t number_of(struct numbers *numbers, uint64_t item)
{
    for (size_t i = numbers->count; i-- > 0;) /* mostly the last ones again */
        if (numbers->items[i] == item)
            return (uint32_t)i + 1;
    if (numbers->count == numbers->capacity) {
        numbers->capacity = numbers->capacity ? numbers->capacity * 2 : 64;
        numbers->items = mem_grow(numbers->items, numbers->capacity, sizeof *numbers->items);
    }
    numbers->items[numbers->count++] = item;
    return (uint32_t)numbers->count;
}

/* What making spans needs to know all the time. */
struct making {
    const struct cupti_log *log;
    const struct cupti_reading *reading;
    struct numbers streams, graphs;
    uint64_t origin;
    struct spans *out;
};

static int line_of(const struct making *making, const struct cupti_call *call)
{
    return call && call->site && making->reading->line_of ? making->reading->line_of(call->site)
                                                          : 0;
}

static uint32_t stream_of(struct making *making, uint32_t stream)
{
    return stream == making->reading->default_stream ? 0 : number_of(&making->streams, stream);
}

static void add_span(struct making *making, struct span *span, uint64_t from, uint64_t to)
{
    span->from_us = (double)(from - making->origin) / 1000;
    span->to_us = (double)(to - making->origin) / 1000;
    spans_add(making->out, span);
}

static void add_device_span(struct making *making, const struct cupti_op *op)
{
    struct span span = {.kind = op->kind, .bytes = op->bytes, .pageable = op->pageable};
    span.line = line_of(making, call_of(making->log, op->correlation));
    span.stream = stream_of(making, op->stream);
    if (op->graph) /* one launch is one call */
        span.graph = number_of(&making->graphs, (uint64_t)op->graph << 32 | op->correlation);
    if (op->kind == SPAN_KERNEL && making->reading->plain)
        making->reading->plain(op->name, span.name, sizeof span.name);
    else
        snprintf(span.name, sizeof span.name, "%.*s", (int)sizeof span.name - 1, op->name);
    add_span(making, &span, op->from, op->to);
}

/* A copy whose call came back only when it was done made the host wait. */
static void add_copy_wait(struct making *making, const struct cupti_op *op)
{
    const struct cupti_call *call = call_of(making->log, op->correlation);
    bool copy = op->kind == SPAN_H2D || op->kind == SPAN_D2H;
    if (!copy || op->graph || !call || call->to < op->to)
        return;
    struct span span = {.kind = SPAN_WAIT, .stream = SPAN_HOST_ROW, .line = line_of(making, call)};
    snprintf(span.name, sizeof span.name, "%s", op->async ? "cudaMemcpyAsync" : "cudaMemcpy");
    add_span(making, &span, call->from < making->origin ? making->origin : call->from, call->to);
}

/* ---- waits. CUPTI tells when a stream was told to wait, not how long it did: that is the time
 * between what was queued in it before and what was queued behind. */

static void add_stream_wait(struct making *making, const struct cupti_op *wait)
{
    const struct cupti_log *log = making->log;
    const struct cupti_op *before = NULL, *behind = NULL;
    for (size_t i = 0; i < log->op_count; i++) {
        const struct cupti_op *op = &log->ops[i];
        if (!on_device(op) || op->stream != wait->stream)
            continue;
        if (op->correlation < wait->correlation && (!before || op->to > before->to))
            before = op;
        if (op->correlation > wait->correlation && (!behind || op->from < behind->from))
            behind = op;
    }
    if (!behind)
        return;
    uint64_t from = before && before->to > wait->from ? before->to : wait->from;
    if (from < making->origin)
        from = making->origin;
    if (behind->from <= from)
        return;
    struct span span = {.kind = SPAN_WAIT, .stream = stream_of(making, wait->stream)};
    span.line = line_of(making, call_of(log, wait->correlation));
    add_span(making, &span, from, behind->from);
}

static void add_host_wait(struct making *making, const struct cupti_op *wait, bool sites)
{
    const struct cupti_call *call = call_of(making->log, wait->correlation);
    if (sites && (!call || !call->site))
        return; /* the harness's own */
    uint64_t from = wait->from < making->origin ? making->origin : wait->from;
    if (wait->to <= from)
        return;
    struct span span = {.kind = SPAN_WAIT, .stream = SPAN_HOST_ROW, .line = line_of(making, call)};
    snprintf(span.name, sizeof span.name, "%.*s", (int)sizeof span.name - 1, wait->name);
    add_span(making, &span, from, wait->to);
}

/* Of waits in one stream for the same piece, the first is enough. */
static void drop_repeated_waits(struct spans *spans, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < spans->count; i++) {
        bool again = false;
        for (size_t j = first; j < kept && !again; j++)
            again = spans->items[j].stream == spans->items[i].stream &&
                    spans->items[j].to_us >= spans->items[i].to_us &&
                    spans->items[j].from_us <= spans->items[i].from_us;
        if (!again)
            spans->items[kept++] = spans->items[i];
    }
    spans->count = kept;
}

static int spans_by_time(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->from_us < b->from_us || a->from_us > b->from_us)
        return a->from_us < b->from_us ? -1 : 1;
    return a->stream < b->stream ? -1 : a->stream > b->stream;
}

void cupti_log_spans(struct cupti_log *log, const struct cupti_reading *reading, struct spans *out)
{
    struct making making = {.log = log, .reading = reading, .out = out, .origin = UINT64_MAX};
    bool sites = false;
    sort_calls(log);
    if (log->op_count)
        qsort(log->ops, log->op_count, sizeof *log->ops, by_start);
    for (size_t i = 0; i < log->op_count && making.origin == UINT64_MAX; i++)
        if (on_device(&log->ops[i]))
            making.origin = log->ops[i].from;
    for (size_t i = 0; i < log->call_count; i++)
        sites |= log->calls[i].site != NULL;
    for (size_t i = 0; i < log->op_count; i++)
        if (on_device(&log->ops[i]))
            add_device_span(&making, &log->ops[i]);
    size_t waits = out->count;
    for (size_t i = 0; i < log->op_count && making.origin != UINT64_MAX; i++)
        if (log->ops[i].kind != SPAN_WAIT)
            add_copy_wait(&making, &log->ops[i]);
        else if (log->ops[i].host)
            add_host_wait(&making, &log->ops[i], sites);
        else
            add_stream_wait(&making, &log->ops[i]);
    drop_repeated_waits(out, waits);
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, spans_by_time);
    free(making.streams.items);
    free(making.graphs.items);
}
