#include "bench.h"
#include "check.h"
#include "sample.h"

#include "harness/base/clock.h"

#include "base/buf.h"
#include "base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256, MOST_SETS = 4096, MOST_LAUNCHES = 200, CALL_SAMPLES = 15 };

static const double SAMPLE_MS = 0.4; /* long against the event clock's half microsecond */
static const double DEADLINE_MS = 5000;
static const double MEMORY_PART = 0.5; /* of what is free: others use the card too */

static size_t bytes_of(const struct lab_buffer *buffer)
{
    return buffer->count * lab_type_bytes(buffer->type);
}

double bench_now_ms(void *bench)
{
    (void)bench;
    return clock_ms();
}

static bool has_changed(const struct lab_shape *shape)
{
    for (int i = 0; i < shape->buffer_count; i++)
        if (lab_is_changed(shape->buffers[i].role))
            return true;
    return false;
}

/* Lays one set out and says how many the L2 asks for; 0 when not even two fit. */
static unsigned plan(struct bench *bench, uint64_t l2_bytes, uint64_t budget)
{
    uint64_t at = 0;
    for (int i = 0; i < bench->shape.buffer_count; i++) {
        bench->offset[i] = at;
        at += (bytes_of(&bench->shape.buffers[i]) + ALIGN - 1) / ALIGN * ALIGN;
    }
    bench->set_bytes = at;
    if (!at)
        return 0;
    uint64_t sets = 2 * l2_bytes / at + 2; /* between two uses of a set, twice the L2 went by */
    sets = sets > MOST_SETS ? MOST_SETS : sets;
    uint64_t room = budget / at;
    if (has_changed(&bench->shape))
        room = room ? room - 1 : 0;
    sets = sets > room ? room : sets;
    return sets < 2 ? 0 : (unsigned)sets;
}

static bool size_to_memory(struct bench *bench, uint64_t n, struct err *err)
{
    struct gpu_info info;
    gpu_describe(bench->gpu, &info);
    uint64_t free_bytes = gpu_memory_free(bench->gpu);
    uint64_t budget = (uint64_t)(MEMORY_PART * (double)(free_bytes ? free_bytes : 1 << 30));
    for (; n; n /= 2)
        if (bench->lab->shape(&bench->shape, n) &&
            (bench->sets = plan(bench, info.l2_bytes, budget)) != 0)
            return true;
    return err_set(err, _("the GPU has too little free memory to time this lab"));
}

/* Inputs go up once; the other sets get them from the first, on the card. */
static bool fill_sets(struct bench *bench, uint64_t seed, struct err *err)
{
    const struct backend_ops *ops = bench->gpu->ops;
    bool ok = true;
    for (int i = 0; ok && i < bench->shape.buffer_count; i++) {
        const struct lab_buffer *about = &bench->shape.buffers[i];
        size_t bytes = bytes_of(about);
        if (!lab_is_filled(about->role))
            continue;
        void *host = mem_alloc(bytes);
        uint64_t first = bench->arena + bench->offset[i];
        bench->lab->fill(&bench->shape, i, seed, host);
        ok = ops->upload(bench->gpu, first, host, bytes, err);
        free(host);
        for (unsigned set = 1; ok && set < bench->sets; set++)
            ok = gpu_copy(bench->gpu, first + set * bench->set_bytes, first, bytes, err);
        if (ok && lab_is_changed(about->role))
            ok = gpu_copy(bench->gpu, bench->pristine + bench->offset[i], first, bytes, err);
    }
    return ok;
}

bool bench_open(struct bench *out, struct backend *gpu, const struct lab *lab, const char *entry,
                uint64_t n, uint64_t seed, const struct image *const images[MEASURE_KINDS],
                struct err *err)
{
    *out = (struct bench){
        .gpu = gpu, .lab = lab, .entry = entry, .failure = {.verdict = VERDICT_PASS}};
    bool ok = size_to_memory(out, n, err);
    for (int kind = 0; ok && kind < MEASURE_KINDS; kind++)
        ok = gpu->ops->load(gpu, &out->modules[kind], images[kind], err);
    for (int i = 0; ok && i < MEASURE_KINDS; i++)
        ok = gpu_event_open(gpu, &out->begin[i], err) && gpu_event_open(gpu, &out->end[i], err);
    if (ok)
        ok = gpu->ops->alloc(gpu, &out->arena, out->sets * out->set_bytes, _("timing"), err);
    if (ok && has_changed(&out->shape))
        ok = gpu->ops->alloc(gpu, &out->pristine, out->set_bytes, _("timing"), err);
    ok = ok && fill_sets(out, seed, err);
    if (!ok)
        bench_close(out);
    return ok;
}

/* Kernels that change what was filled start every time from the same data. Puts it back into the
 * next sets; the copies are no part of a sample. */
static bool restore(struct bench *bench, unsigned launches)
{
    for (unsigned k = 0; bench->pristine && k < launches; k++) {
        uint64_t set = bench->arena + (bench->turn + k) % bench->sets * bench->set_bytes;
        for (int i = 0; i < bench->shape.buffer_count; i++)
            if (lab_is_changed(bench->shape.buffers[i].role) &&
                !gpu_copy(bench->gpu, set + bench->offset[i], bench->pristine + bench->offset[i],
                          bytes_of(&bench->shape.buffers[i]), &bench->error))
                return false;
    }
    return true;
}

/* The buffers of the set whose turn it is; the next set is next. */
static void take_set(struct bench *bench, uint64_t device[LAB_BUFFERS])
{
    unsigned set = bench->turn++ % bench->sets;
    for (int i = 0; i < bench->shape.buffer_count; i++)
        device[i] = bench->arena + set * bench->set_bytes + bench->offset[i];
}

static bool enqueue(struct bench *bench, int kind)
{
    uint64_t device[LAB_BUFFERS];
    void *params[LAB_ARGS];
    take_set(bench, device);
    for (int i = 0; i < bench->shape.arg_count; i++) {
        struct lab_arg *arg = &bench->shape.args[i];
        params[i] = arg->buffer >= 0 ? (void *)&device[arg->buffer] : (void *)&arg->value;
    }
    struct gpu_launch launch = {.module = bench->modules[kind],
                                .entry = bench->entry,
                                .dynamic_shared_bytes = bench->shape.dynamic_shared_bytes,
                                .params = params};
    memcpy(launch.grid, bench->shape.grid, sizeof launch.grid);
    memcpy(launch.block, bench->shape.block, sizeof launch.block);
    bench->total_launches++;
    return gpu_enqueue(bench->gpu, &launch, &bench->error);
}

static bool wait_all(struct bench *bench)
{
    struct launch_result result = {.verdict = VERDICT_PASS};
    if (!gpu_wait(bench->gpu, DEADLINE_MS, &result, &bench->error))
        return false;
    if (result.verdict != VERDICT_PASS)
        bench->failure = result;
    return result.verdict == VERDICT_PASS;
}

/* Queues the launches of one sample between its two events. */
static bool sample(struct bench *bench, int kind)
{
    bool ok = restore(bench, bench->launches[kind]) &&
              gpu_event_record(bench->gpu, bench->begin[kind], &bench->error);
    for (unsigned k = 0; ok && k < bench->launches[kind]; k++)
        ok = enqueue(bench, kind);
    return ok && gpu_event_record(bench->gpu, bench->end[kind], &bench->error);
}

static double sample_ms(struct bench *bench, int kind)
{
    return gpu_event_elapsed_ms(bench->gpu, bench->begin[kind], bench->end[kind]);
}

/* Everything of a round is queued before anything is waited for, behind one launch that is not
 * measured: the GPU then goes from launch to launch without asking the host. */
bool bench_round(void *context, const int order[MEASURE_KINDS], double ms[MEASURE_KINDS])
{
    struct bench *bench = context;
    double start = bench_now_ms(bench);
    bool ok = restore(bench, 1) && enqueue(bench, order[MEASURE_KINDS - 1]);
    for (int i = 0; ok && i < MEASURE_KINDS; i++)
        ok = sample(bench, order[i]);
    bench->bound_ms += bench_now_ms(bench) - start;
    if (!ok || !wait_all(bench))
        return false;
    for (int kind = 0; kind < MEASURE_KINDS; kind++) {
        double elapsed = sample_ms(bench, kind);
        ms[kind] = elapsed / bench->launches[kind];
        bench->run_ms += elapsed;
    }
    return true;
}

bool bench_calibrate(struct bench *bench)
{
    /* A sample restores all of its sets first, and each once. */
    unsigned most = bench->pristine && bench->sets < MOST_LAUNCHES ? bench->sets : MOST_LAUNCHES;
    for (int kind = 0; kind < MEASURE_KINDS; kind++) {
        double ms = (double)NAN;
        bench->launches[kind] = 1;
        for (int again = 0; again < 3; again++) { /* the first brings code and clocks up */
            if (!sample(bench, kind) || !wait_all(bench))
                return false;
            ms = sample_ms(bench, kind);
            if (ms > 50)
                break;
        }
        double wanted = ms > 0 ? ceil(SAMPLE_MS / ms) : 1;
        if (wanted > 1)
            bench->launches[kind] = wanted < most ? (unsigned)wanted : most;
    }
    bench->bound_ms = bench->run_ms = 0;
    return true;
}

struct last { /* host arrays of the last, checked launch */
    void *host[LAB_BUFFERS], *want[LAB_BUFFERS];
    uint32_t poison[LAB_BUFFERS];
};

/* New inputs and poisoned outputs into the set whose turn is next: to the kernel this launch looks
 * like all the others. */
static bool prepare_last(struct bench *bench, struct last *last, uint64_t seed)
{
    const struct backend_ops *ops = bench->gpu->ops;
    uint64_t base = bench->arena + bench->turn % bench->sets * bench->set_bytes;
    bool ok = true;
    for (int i = 0; ok && i < bench->shape.buffer_count; i++) {
        const struct lab_buffer *about = &bench->shape.buffers[i];
        size_t bytes = bytes_of(about);
        last->poison[i] = check_poison(about->type, seed + (unsigned)i);
        if (lab_is_answer(about->role))
            last->want[i] = mem_zero(1, bytes); /* a sample touches little of it */
        if (!lab_is_filled(about->role)) {
            ok = ops->fill(bench->gpu, base + bench->offset[i], last->poison[i],
                           (bytes + 3) / 4 * 4, false, &bench->error);
            continue;
        }
        last->host[i] = mem_alloc(bytes);
        bench->lab->fill(&bench->shape, i, seed, last->host[i]);
        ok = ops->upload(bench->gpu, base + bench->offset[i], last->host[i], bytes, &bench->error);
    }
    return ok;
}

static bool output_right(struct check_outcome *out, const struct check_buffer *buffer, void *want,
                         uint64_t seed)
{
    return buffer->lab->element ? sample_compare(out, buffer, want, seed)
                                : check_compare(out, buffer);
}

static bool compare_last(struct bench *bench, struct last *last, unsigned set, uint64_t seed,
                         json_t **entry)
{
    if (!bench->lab->element)
        bench->lab->reference(&bench->shape, last->host, last->want);
    uint64_t base = bench->arena + set * bench->set_bytes;
    bool ok = true;
    for (int i = 0; ok && !*entry && i < bench->shape.buffer_count; i++) {
        size_t bytes = bytes_of(&bench->shape.buffers[i]);
        if (!last->want[i])
            continue;
        void *got = mem_alloc(bytes);
        ok = bench->gpu->ops->download(bench->gpu, got, base + bench->offset[i], bytes,
                                       &bench->error);
        struct check_buffer buffer = {.lab = bench->lab,
                                      .shape = &bench->shape,
                                      .buffer = i,
                                      .got = got,
                                      .want = last->want[i],
                                      .host = last->host,
                                      .poison = last->poison[i]};
        struct check_outcome outcome;
        if (ok && !output_right(&outcome, &buffer, last->want[i], seed))
            *entry = json_pack("{s:I, s:I, s:s, s:s, s:s, s:o}", "n", (json_int_t)bench->shape.n,
                               "seed", (json_int_t)seed, "backend", "gpu", "verdict", "wrong",
                               "text", _("in the last timed launch, on new inputs"), "mismatch",
                               check_mismatch(&buffer, &outcome));
        free(got);
    }
    return ok;
}

bool bench_check_last(struct bench *bench, uint64_t seed, json_t **entry)
{
    struct last last = {0};
    unsigned set = bench->turn % bench->sets;
    *entry = NULL;
    bool ok = prepare_last(bench, &last, seed) &&
              gpu_event_record(bench->gpu, bench->begin[MEASURE_YOURS], &bench->error) &&
              enqueue(bench, MEASURE_YOURS) &&
              gpu_event_record(bench->gpu, bench->end[MEASURE_YOURS], &bench->error) &&
              wait_all(bench) && compare_last(bench, &last, set, seed, entry);
    for (int i = 0; i < LAB_BUFFERS; i++) {
        free(last.host[i]);
        free(last.want[i]);
    }
    return ok;
}

struct call {
    bool (*enqueue)(void *context, const uint64_t device[], void *stream, struct err *err);
    void *context;
};

/* Milliseconds of one of `calls` calls, behind one that is not measured. */
static bool sample_call(struct bench *bench, const struct call *call, unsigned calls, double *ms,
                        struct err *err)
{
    uint64_t device[LAB_BUFFERS];
    struct launch_result result = {.verdict = VERDICT_PASS};
    void *begin = bench->begin[0], *end = bench->end[0];
    take_set(bench, device);
    bool ok = call->enqueue(call->context, device, gpu_stream(bench->gpu), err) &&
              gpu_event_record(bench->gpu, begin, err);
    for (unsigned i = 0; ok && i < calls; i++) {
        take_set(bench, device);
        ok = call->enqueue(call->context, device, gpu_stream(bench->gpu), err);
    }
    if (!ok || !gpu_event_record(bench->gpu, end, err) ||
        !gpu_wait(bench->gpu, DEADLINE_MS, &result, err))
        return false;
    *ms = gpu_event_elapsed_ms(bench->gpu, begin, end) / calls;
    return result.verdict == VERDICT_PASS || err_set(err, "%s", result.text);
}

bool bench_time_call(struct bench *bench,
                     bool (*call)(void *context, const uint64_t device[], void *stream,
                                  struct err *err),
                     void *context, struct interval *ms, struct err *err)
{
    const struct call one = {call, context};
    double samples[CALL_SAMPLES], once = 0;
    bool ok = true;
    for (int i = 0; ok && i < 3; i++) /* the first brings code and clocks up */
        ok = sample_call(bench, &one, 1, &once, err);
    double wanted = once > 0 ? ceil(SAMPLE_MS / once) : 1;
    unsigned calls = wanted < 1 ? 1 : wanted < MOST_LAUNCHES ? (unsigned)wanted : MOST_LAUNCHES;
    for (int i = 0; ok && i < CALL_SAMPLES; i++)
        ok = sample_call(bench, &one, calls, &samples[i], err);
    if (ok)
        *ms = stats_median(samples, CALL_SAMPLES);
    return ok;
}

/* On a lost backend these only give back what the host holds. */
void bench_close(struct bench *bench)
{
    const struct backend_ops *ops = bench->gpu->ops;
    for (int kind = 0; kind < MEASURE_KINDS; kind++)
        if (bench->modules[kind])
            ops->unload(bench->gpu, bench->modules[kind]);
    for (int i = 0; i < MEASURE_KINDS; i++) {
        gpu_event_close(bench->gpu, bench->begin[i]);
        gpu_event_close(bench->gpu, bench->end[i]);
    }
    if (bench->arena)
        ops->release(bench->gpu, bench->arena);
    if (bench->pristine)
        ops->release(bench->gpu, bench->pristine);
    *bench = (struct bench){.gpu = bench->gpu};
}
