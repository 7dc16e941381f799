/* CUPTI's records, written byte by byte as its headers lay them out, and the spans made of them. */
#include "harness/host/cupti.h"
#include "harness/host/cupti_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The records as CUDA 13.0 declares them, written down whole and packed by hand, so that the
 * decoder's offsets are held against a second account of them. */
struct kernel10 {
    uint32_t kind;
    uint8_t cache, shared_config;
    uint16_t registers;
    uint32_t requested, executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, carveout_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t limit, graph;
    void *policy;
    uint32_t channel, channel_type, cluster[3], cluster_policy;
    uint64_t local_total_v2;
    uint32_t most_cluster, active_clusters;
    uint8_t more[8];
};
_Static_assert(sizeof(struct kernel10) == 216, "CUpti_ActivityKernel10");

struct memcpy6 {
    uint32_t kind;
    uint8_t copy, source, target, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation, pad;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type;
    uint8_t by_device, pad2[3];
    uint64_t count;
};
_Static_assert(sizeof(struct memcpy6) == 96, "CUpti_ActivityMemcpy6");

struct memset4 {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory;
    uint32_t pad;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel, channel_type;
    uint8_t by_device, pad2[3];
};
_Static_assert(sizeof(struct memset4) == 88, "CUpti_ActivityMemset4");

struct synchronization2 {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
    uint64_t event_sync;
    uint32_t result, pad;
};
_Static_assert(sizeof(struct synchronization2) == 56, "CUpti_ActivitySynchronization2");

struct api {
    uint32_t kind, cbid;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};
_Static_assert(sizeof(struct api) == 40, "CUpti_ActivityAPI");

struct external {
    uint32_t kind, external_kind;
    uint64_t id;
    uint32_t correlation, reserved;
};
_Static_assert(sizeof(struct external) == 24, "CUpti_ActivityExternalCorrelation");

enum { HTOD = 1, DTOH = 2, DTOD = 8, HTOH = 9, PAGEABLE = 1, PINNED = 2, ON_DEVICE = 3 };
enum { DEFAULT_STREAM = 7 };

static int line_of(const void *site)
{
    return (int)(uintptr_t)site / 100;
}

static void plain(const char *name, char *out, size_t len)
{
    snprintf(out, len, "plain %s", name);
}

static const struct cupti_reading reading = {DEFAULT_STREAM, line_of, plain};

/* A call of the student's in line `line`. */
static void call(struct cupti_log *log, uint32_t correlation, int line, uint64_t from, uint64_t to)
{
    struct external external = {CUPTI_KIND_EXTERNAL_CORRELATION, 3, (uint64_t)line * 100,
                                correlation, 0};
    struct api api = {CUPTI_KIND_RUNTIME, 211, from, to, 1, 1, correlation, 0};
    if (line)
        cupti_log_add(log, &external);
    cupti_log_add(log, &api);
}

static void copy(struct cupti_log *log, uint8_t kind, uint32_t stream, uint32_t correlation,
                 uint64_t from, uint64_t to)
{
    struct memcpy6 record = {.kind = CUPTI_KIND_MEMCPY,
                             .copy = kind,
                             .source = kind == DTOH ? ON_DEVICE : PINNED,
                             .target = kind == DTOH ? PINNED : ON_DEVICE,
                             .flags = 1,
                             .bytes = 4 << 20,
                             .start = from,
                             .end = to,
                             .stream = stream,
                             .correlation = correlation};
    cupti_log_add(log, &record);
}

static void kernel(struct cupti_log *log, uint32_t stream, uint32_t correlation, uint32_t graph,
                   uint64_t from, uint64_t to)
{
    struct kernel10 record = {.kind = CUPTI_KIND_CONCURRENT_KERNEL,
                              .start = from,
                              .end = to,
                              .stream = stream,
                              .correlation = correlation,
                              .graph = graph,
                              .name = "_Z4workPf"};
    cupti_log_add(log, &record);
}

static void synchronization(struct cupti_log *log, uint32_t type, uint32_t stream,
                            uint32_t correlation, uint64_t from, uint64_t to)
{
    struct synchronization2 record = {.kind = CUPTI_KIND_SYNCHRONIZATION,
                                      .type = type,
                                      .start = from,
                                      .end = to,
                                      .correlation = correlation,
                                      .stream = stream};
    cupti_log_add(log, &record);
}

static const struct span *find(const struct spans *spans, enum span_kind kind, uint32_t stream)
{
    for (size_t i = 0; i < spans->count; i++)
        if (spans->items[i].kind == kind && spans->items[i].stream == stream)
            return &spans->items[i];
    return NULL;
}

static void near(double want, double got)
{
    assert_float_equal(want, got, 1e-6);
}

static void test_a_chunk(void **state)
{
    (void)state;
    struct cupti_log log = {0};
    struct spans spans = {0};
    call(&log, 10, 41, 900, 950);
    call(&log, 11, 43, 960, 990);
    call(&log, 12, 44, 1000, 1100);
    copy(&log, HTOD, 13, 10, 1000, 5000);
    kernel(&log, 13, 11, 0, 5500, 9500);
    copy(&log, DTOH, 13, 12, 9600, 12600);
    cupti_log_spans(&log, &reading, &spans);
    assert_int_equal(spans.count, 3);
    const struct span *h2d = &spans.items[0], *work = &spans.items[1], *d2h = &spans.items[2];
    assert_int_equal(h2d->kind, SPAN_H2D);
    near(0, h2d->from_us);
    near(4, h2d->to_us);
    assert_int_equal(h2d->line, 41);
    assert_int_equal(h2d->bytes, 4 << 20);
    assert_int_equal(h2d->stream, 1);
    assert_int_equal(h2d->pageable, 0);
    assert_string_equal(h2d->name, "");
    assert_int_equal(work->kind, SPAN_KERNEL);
    near(4.5, work->from_us);
    assert_string_equal(work->name, "plain _Z4workPf");
    assert_int_equal(work->line, 43);
    assert_int_equal(d2h->kind, SPAN_D2H);
    assert_int_equal(d2h->line, 44);
    near(11.6, d2h->to_us);
    spans_free(&spans);
    cupti_log_free(&log);
}

/* CUPTI hands out buffers per thread and engine: records do not come in order of time. */
static void test_streams_in_order_of_use(void **state)
{
    (void)state;
    struct cupti_log log = {0};
    struct spans spans = {0};
    kernel(&log, 22, 5, 0, 9000, 9900);
    kernel(&log, DEFAULT_STREAM, 6, 0, 2000, 2500);
    kernel(&log, 19, 7, 0, 1000, 1500);
    cupti_log_spans(&log, &reading, &spans);
    assert_int_equal(spans.count, 3);
    assert_int_equal(spans.items[0].stream, 1);
    assert_int_equal(spans.items[1].stream, 0);
    assert_int_equal(spans.items[2].stream, 2);
    assert_int_equal(spans.items[0].line, 0);
    spans_free(&spans);
    cupti_log_free(&log);
}

static void test_kinds_of_copies(void **state)
{
    (void)state;
    struct cupti_log log = {0};
    struct spans spans = {0};
    struct memset4 fill = {.kind = CUPTI_KIND_MEMSET,
                           .bytes = 77,
                           .start = 500,
                           .end = 600,
                           .stream = 9,
                           .correlation = 3};
    struct memcpy6 pageable = {.kind = CUPTI_KIND_MEMCPY,
                               .copy = HTOD,
                               .source = PAGEABLE,
                               .target = ON_DEVICE,
                               .bytes = 5,
                               .start = 1000,
                               .end = 3000,
                               .stream = DEFAULT_STREAM,
                               .correlation = 4};
    uint32_t other[64] = {9999};
    cupti_log_add(&log, &fill);
    cupti_log_add(&log, &pageable);
    copy(&log, DTOD, 9, 5, 700, 800);
    copy(&log, HTOH, 9, 6, 700, 800);
    cupti_log_add(&log, other);
    call(&log, 4, 20, 950, 3050);
    cupti_log_spans(&log, &reading, &spans);
    assert_int_equal(spans.count, 4);
    assert_int_equal(spans.items[0].kind, SPAN_MEMSET);
    assert_int_equal(spans.items[0].bytes, 77);
    assert_int_equal(spans.items[1].kind, SPAN_D2D);
    const struct span *copied = find(&spans, SPAN_H2D, 0);
    assert_int_equal(copied->pageable, 1);
    /* The call came back after the copy: the host waited. */
    const struct span *waited = find(&spans, SPAN_WAIT, SPAN_HOST_ROW);
    near(0.45, waited->from_us);
    near(2.55, waited->to_us);
    assert_int_equal(waited->line, 20);
    assert_string_equal(waited->name, "cudaMemcpy");
    spans_free(&spans);
    cupti_log_free(&log);
}

static void test_graph_launches(void **state)
{
    (void)state;
    struct cupti_log log = {0};
    struct spans spans = {0};
    for (uint32_t launch = 0; launch < 3; launch++) {
        call(&log, 100 + launch, 30, 500, 600);
        for (uint32_t i = 0; i < 4; i++)
            kernel(&log, 14, 100 + launch, 8, 1000 + 100 * (launch * 4 + i),
                   1050 + 100 * (launch * 4 + i));
    }
    kernel(&log, 14, 200, 0, 9000, 9100);
    cupti_log_spans(&log, &reading, &spans);
    assert_int_equal(spans.count, 13);
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(spans.items[i].graph, i / 4 + 1);
        assert_int_equal(spans.items[i].line, 30);
    }
    assert_int_equal(spans.items[12].graph, 0);
    spans_free(&spans);
    cupti_log_free(&log);
}

static void test_waits(void **state)
{
    (void)state;
    struct cupti_log log = {0};
    struct spans spans = {0};
    call(&log, 1, 50, 100, 200);
    kernel(&log, 20, 1, 0, 1000, 5000);
    kernel(&log, 21, 2, 0, 1000, 2000);
    call(&log, 3, 52, 300, 400);
    synchronization(&log, 2, 21, 3, 300, 400); /* cudaStreamWaitEvent, twice */
    synchronization(&log, 2, 21, 4, 410, 420);
    kernel(&log, 21, 5, 0, 5200, 6000);
    call(&log, 6, 55, 450, 6100);
    synchronization(&log, 3, 21, 6, 460, 6090); /* cudaStreamSynchronize */
    call(&log, 7, 0, 6200, 6300);
    synchronization(&log, 4, 0, 7, 6200, 6300); /* the harness's own */
    cupti_log_spans(&log, &reading, &spans);
    assert_int_equal(spans.count, 5);
    const struct span *stream = find(&spans, SPAN_WAIT, 2);
    assert_non_null(stream);
    near(1.0, stream->from_us); /* behind the first kernel of the stream */
    near(4.2, stream->to_us);   /* until the next begins */
    assert_int_equal(stream->line, 52);
    const struct span *host = find(&spans, SPAN_WAIT, SPAN_HOST_ROW);
    near(0, host->from_us);
    near(5.09, host->to_us);
    assert_int_equal(host->line, 55);
    assert_string_equal(host->name, "cudaStreamSynchronize");
    spans_free(&spans);
    cupti_log_free(&log);
}

static void test_nothing(void **state)
{
    (void)state;
    struct cupti_log log = {0};
    struct spans spans = {0};
    cupti_log_spans(&log, &reading, &spans);
    assert_int_equal(spans.count, 0);
    synchronization(&log, 2, 21, 3, 300, 400);
    synchronization(&log, 77, 21, 3, 300, 400);
    kernel(&log, 1, 2, 0, 0, 0); /* no time could be had */
    cupti_log_spans(&log, &reading, &spans);
    assert_int_equal(spans.count, 0);
    cupti_log_free(&log);
}

static void test_why_there_is_none(void **state)
{
    (void)state;
    struct err err = {0};
    assert_null(cupti_open("/no/such/libcupti.so", &err));
    assert_non_null(strstr(err.text, "CUPTI cannot be opened"));
    assert_null(cupti_open("libm.so.6", &err));
    assert_string_equal(err.text, "this CUPTI has no function cuptiGetVersion");
    cupti_close(NULL);
    cupti_enter(&err); /* nothing records: nothing happens */
    cupti_leave();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chunk),
        cmocka_unit_test(test_streams_in_order_of_use),
        cmocka_unit_test(test_kinds_of_copies),
        cmocka_unit_test(test_graph_launches),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_why_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
