#include "limits.h"
#include "gpu.h"
#include "stats.h"

#include "base/msg.h"

#include <math.h>
#include <string.h>

enum { THREADS = 256, WARM = 3, SAMPLES = 9, LAUNCHES = 4, FMA_ROUNDS = 512, TENSOR_ROUNDS = 512 };

enum { STRIDING_BLOCKS = 8 };                   /* of 256 threads on each multiprocessor */
static const uint64_t STREAM_BYTES = 512 << 20; /* far above twice any L2 so far */
static const uint32_t FILL = 0x3f9d70a4u;
static const double DEADLINE_MS = 2000;

struct rate { /* one kernel whose rate is wanted */
    struct backend *gpu;
    struct gpu_launch launch;
    double work; /* bytes or operations of one launch */
    bool lost;
};

static bool sample(struct rate *rate, void *from, void *to, double *ms, struct err *err)
{
    struct launch_result result = {.verdict = VERDICT_PASS};
    bool ok = gpu_event_record(rate->gpu, from, err);
    for (int i = 0; ok && i < LAUNCHES; i++)
        ok = gpu_enqueue(rate->gpu, &rate->launch, err);
    ok = ok && gpu_event_record(rate->gpu, to, err) &&
         gpu_wait(rate->gpu, DEADLINE_MS, &result, err);
    rate->lost = rate->lost || result.poisoned;
    if (ok && result.verdict != VERDICT_PASS)
        ok = err_set(err, _("the card's limit could not be measured: %s"), result.text);
    if (ok)
        *ms = gpu_event_elapsed_ms(rate->gpu, from, to) / LAUNCHES;
    return ok;
}

/* Work per millisecond, the median over samples. */
static bool measure(struct rate *rate, double *best, struct err *err)
{
    void *from = NULL, *to = NULL;
    double ms[SAMPLES], ignored;
    bool ok = gpu_event_open(rate->gpu, &from, err) && gpu_event_open(rate->gpu, &to, err);
    for (int i = 0; ok && i < WARM; i++)
        ok = sample(rate, from, to, &ignored, err);
    for (int i = 0; ok && i < SAMPLES; i++)
        ok = sample(rate, from, to, &ms[i], err);
    gpu_event_close(rate->gpu, from);
    gpu_event_close(rate->gpu, to);
    double median = ok ? stats_median(ms, SAMPLES).median : 0;
    if (ok && !(median > 0))
        ok = err_set(err, _("the card's limit could not be measured: its clock gave no time"));
    if (ok && !(rate->work / median <= *best))
        *best = rate->work / median;
    return ok;
}

/* A way to stream through memory. */
struct way {
    const char *entry;
    unsigned
        each; /* times 16 bytes that a thread moves; 0: the blocks that fill the card stride on */
};

/* The bytes that the ways run over. Halved where memory is short; below twice the L2 the cache
 * would be measured, and that is no limit of the memory. 0: there is too little. */
static uint64_t stream_bytes(struct backend *gpu)
{
    struct gpu_info info;
    gpu_describe(gpu, &info);
    uint64_t bytes = STREAM_BYTES, free_bytes = gpu_memory_free(gpu);
    while (free_bytes && bytes > free_bytes / 4)
        bytes /= 2;
    return bytes < 2 * info.l2_bytes ? 0 : bytes;
}

/* The best of the ways, in GB/s. `params` begin with the address and end where the kernels' do. */
static bool measure_ways(struct rate *rate, const struct way *ways, int count, uint64_t bytes,
                         void **params, double *value, struct err *err)
{
    struct gpu_info info;
    gpu_describe(rate->gpu, &info);
    double best = 0;
    bool ok = true;
    rate->launch.params = params;
    for (int i = 0; ok && i < count; i++) {
        uint64_t share = (uint64_t)THREADS * 16 * ways[i].each;
        uint64_t blocks =
            share ? (bytes + share - 1) / share : (uint64_t)info.multiprocessors * STRIDING_BLOCKS;
        rate->launch.entry = ways[i].entry;
        rate->launch.grid[0] = blocks ? (unsigned)blocks : 1;
        ok = measure(rate, &best, err);
    }
    rate->launch.params = NULL;
    *value = best / 1e6;
    return ok;
}

/* Bytes read plus bytes written: half of them are the source. */
static bool measure_copy(struct rate *rate, uint64_t bytes, double *value, struct err *err)
{
    static const struct way ways[] = {{"limitCopyPlain", 1}, {"limitCopy", 4}};
    const struct backend_ops *ops = rate->gpu->ops;
    uint64_t half = bytes / 2, from = 0, to = 0;
    unsigned long long count = half / 16;
    void *params[] = {&from, &to, &count};
    rate->work = 2.0 * (double)half;
    bool ok = ops->alloc(rate->gpu, &from, half, "limit", err) &&
              ops->alloc(rate->gpu, &to, half, "limit", err) &&
              ops->fill(rate->gpu, from, FILL, half, true, err) &&
              measure_ways(rate, ways, 2, half, params, value, err);
    if (!rate->lost) {
        ops->release(rate->gpu, from);
        ops->release(rate->gpu, to);
    }
    return ok;
}

/* Bytes read. All words are equal and each thread folds an even number of them into 0, so that
 * `never`, 1, is what no thread comes to. */
static bool measure_read(struct rate *rate, uint64_t bytes, double *value, struct err *err)
{
    static const struct way ways[] = {{"limitRead", 4}, {"limitReadStriding", 0}};
    const struct backend_ops *ops = rate->gpu->ops;
    uint64_t from = 0, to = 0;
    unsigned long long count = bytes / 16;
    unsigned never = 1;
    void *params[] = {&from, &to, &count, &never};
    rate->work = (double)bytes;
    bool ok = ops->alloc(rate->gpu, &from, bytes, "limit", err) &&
              ops->alloc(rate->gpu, &to, 256, "limit", err) &&
              ops->fill(rate->gpu, from, FILL, bytes, true, err) &&
              measure_ways(rate, ways, 2, bytes, params, value, err);
    if (!rate->lost) {
        ops->release(rate->gpu, from);
        ops->release(rate->gpu, to);
    }
    return ok;
}

static bool measure_memory(struct rate *rate, bool read, double *value, struct err *err)
{
    uint64_t bytes = stream_bytes(rate->gpu);
    if (!bytes)
        return err_set(err, _("the card's limit could not be measured: too little of its memory "
                              "is free"));
    return read ? measure_read(rate, bytes, value, err) : measure_copy(rate, bytes, value, err);
}

/* TFLOP/s: enough blocks to fill the card a few times over, and no memory traffic. */
static bool measure_arithmetic(struct rate *rate, bool tensor, double *value, struct err *err)
{
    const struct backend_ops *ops = rate->gpu->ops;
    struct gpu_info info;
    gpu_describe(rate->gpu, &info);
    unsigned blocks = (unsigned)info.multiprocessors * 32;
    int rounds = tensor ? TENSOR_ROUNDS : FMA_ROUNDS;
    uint64_t out = 0;
    void *params[] = {&out, &rounds};
    double best = 0,
           each = tensor ? 4 * 2048.0 / 32 : 32 * 2.0; /* operations of a thread's round */
    bool ok = ops->alloc(rate->gpu, &out, (size_t)blocks * THREADS * 4, "limit", err);
    rate->work = each * rounds * blocks * THREADS;
    rate->launch.params = params;
    rate->launch.grid[0] = blocks;
    rate->launch.entry = tensor ? "limitTensor" : "limitFma";
    ok = ok && measure(rate, &best, err);
    rate->launch.params = NULL;
    *value = best / 1e9;
    if (!rate->lost)
        ops->release(rate->gpu, out);
    return ok;
}

static bool measure_kind(struct limit *out, struct rate *rate, enum lab_limit kind, struct err *err)
{
    switch (kind) {
    case LIMIT_COPY:
        *out = (struct limit){.kind = "copy", .unit = "GB/s"};
        return measure_memory(rate, false, &out->value, err);
    case LIMIT_READ:
        *out = (struct limit){.kind = "read", .unit = "GB/s"};
        return measure_memory(rate, true, &out->value, err);
    case LIMIT_FMA:
        *out = (struct limit){.kind = "fma", .unit = "TFLOP/s"};
        return measure_arithmetic(rate, false, &out->value, err);
    case LIMIT_TENSOR:
        *out = (struct limit){.kind = "tensor", .unit = "TFLOP/s"};
        return measure_arithmetic(rate, true, &out->value, err);
    case LIMIT_LAUNCH:
    case LIMIT_BUS: /* stride-host measures it */
        break;
    }
    return err_set(err, "the lab names no limit that is measured");
}

bool limits_measure(struct limit *out, struct backend *gpu, const struct image *image,
                    enum lab_limit kind, bool *lost, struct err *err)
{
    static struct {
        char uuid[48];
        enum lab_limit kind;
        struct limit limit;
    } known;
    struct gpu_info info;
    gpu_describe(gpu, &info);
    *lost = false;
    if (*known.uuid && strcmp(known.uuid, info.uuid) == 0 && known.kind == kind) {
        *out = known.limit;
        return true;
    }
    struct rate rate = {.gpu = gpu, .launch = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}}};
    if (!gpu->ops->load(gpu, &rate.launch.module, image, err))
        return false;
    bool ok = measure_kind(out, &rate, kind, err);
    *lost = rate.lost;
    if (!rate.lost)
        gpu->ops->unload(gpu, rate.launch.module);
    if (ok) {
        memcpy(known.uuid, info.uuid, sizeof known.uuid);
        known.kind = kind;
        known.limit = *out;
    }
    return ok;
}

double limits_achieved(enum lab_limit kind, double bytes_moved, double flops, double ms)
{
    bool memory = kind == LIMIT_COPY || kind == LIMIT_READ || kind == LIMIT_BUS;
    return memory ? bytes_moved / ms / 1e6 : flops / ms / 1e9;
}

double limits_write(const struct limit *limit, double achieved, json_t *timing)
{
    double part = achieved / limit->value;
    json_object_set_new(timing, "limit",
                        json_pack("{s:s, s:f, s:s}", "kind", limit->kind, "value", limit->value,
                                  "unit", limit->unit));
    json_object_set_new(timing, "achieved", json_real(achieved));
    json_object_set_new(timing, "of_limit", json_real(part));
    return part;
}
