/* How to read this file: timing_run waits for its turn, opens a bench (memory and launches), lets
 * measure.c decide how long to measure, checks one more launch, measures the card's limit, and
 * writes down what is known. */
#include "timing.h"
#include "bench.h"
#include "limits.h"
#include "nvml.h"
#include "peer.h"
#include "turn.h"

#include "base/clock.h"
#include "base/msg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double TURN_MS = 8000;     /* most to wait for another Stride */
static const double MEASURE_PART = 0.6; /* of the budget; the rest is for memory and checking */
/* When nobody waits for a peer any more: the reader of the record gives this stage 20 s. */
static const double PEER_UNTIL_MS = 17000;
static const double LAUNCH_BOUND = 0.8; /* launching took this part of the kernels' own time */

struct work { /* of one timing_run */
    const struct timing_request *request;
    struct timing_result *out;
    struct bench bench;
    struct measure measure;
    struct nvml_state state;
    struct limit limit;   /* value 0: none */
    struct interval peer; /* of the library, in milliseconds; median 0: none */
    double began_ms;
};

static void __attribute__((format(printf, 3, 4)))
say(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, size, format, args);
    va_end(args);
}

static bool skip(struct timing_result *out, const char *why)
{
    say(out->skip, sizeof out->skip, "%.500s", why);
    return true;
}

static void note(void *context, const char *text)
{
    const struct timing_request *request = context;
    if (request->note)
        request->note(request->context, text);
}

static void note_waiting(void *request)
{
    note(request, _("another Stride is timing on this GPU; waiting for it"));
}

/* A kernel failed in a timed launch: what it did becomes the verdict. */
static void take_failure(struct work *work)
{
    const struct launch_result *failure = &work->bench.failure;
    struct timing_result *out = work->out;
    out->verdict = failure->verdict;
    out->poisoned = failure->poisoned;
    say(out->summary, sizeof out->summary, _("N = %llu, while being timed: %s"),
        (unsigned long long)work->bench.shape.n, failure->text);
    out->failed_case = json_pack("{s:I, s:I, s:s, s:s}", "n", (json_int_t)work->bench.shape.n,
                                 "seed", (json_int_t)work->request->seed, "backend", "gpu",
                                 "verdict", verdict_name(failure->verdict));
    if (failure->verdict == VERDICT_FAULT)
        json_object_set_new(
            out->failed_case, "fault",
            json_pack("{s:s, s:s}", "kind", failure->fault_kind, "text", failure->text));
    else
        json_object_set_new(out->failed_case, "text", json_string(failure->text));
}

/* What cannot be said although there are times: the launch is the time, or the rate is impossible.
 */
static enum measure_verdict judge(const struct work *work, double of_limit, const char **why)
{
    const struct bench *bench = &work->bench;
    enum measure_verdict verdict = measure_judge(&work->measure, MEASURE_NOISY_KERNEL, why);
    if (of_limit > LIMITS_MOST) {
        *why = _("faster than this card can be: the kernel cannot have done all of its work");
        return MEASURE_TOO_NOISY;
    }
    if (bench->run_ms > 0 && bench->bound_ms > LAUNCH_BOUND * bench->run_ms) {
        *why = _("too short to measure: launching takes as long as the kernel");
        return MEASURE_TOO_NOISY;
    }
    if (verdict == MEASURE_TOO_NOISY)
        nvml_explain_noise(&work->state, why);
    return verdict;
}

static void summarise(struct work *work, enum measure_verdict verdict, const char *why,
                      double of_limit)
{
    const struct measure *measure = &work->measure;
    struct timing_result *out = work->out;
    measure_summarise(measure, verdict, why, out->summary, sizeof out->summary);
    if (of_limit > 0 && verdict != MEASURE_TOO_NOISY) {
        size_t len = strlen(out->summary);
        const char *format = work->request->about->limit == LIMIT_COPY
                                 ? _(", %.0f %% of this card's copy bandwidth")
                             : work->request->about->limit == LIMIT_READ
                                 ? _(", %.0f %% of this card's read bandwidth")
                             : work->request->about->limit == LIMIT_FMA
                                 ? _(", %.0f %% of this card's FMA rate")
                                 : _(", %.0f %% of this card's mma.sync rate");
        snprintf(out->summary + len, sizeof out->summary - len, format, 100 * of_limit);
    }
}

/* Like the limit, a gift. */
static void measure_peer(struct work *work)
{
    const struct timing_request *request = work->request;
    struct err why = {0};
    if (peer_is_late(request->lab, &request->peers))
        note((void *)(uintptr_t)request, _("CUB is compiled for this card, once: some seconds"));
    if (!peer_measure(&work->peer, &work->bench, &request->peers,
                      PEER_UNTIL_MS - (clock_ms() - work->began_ms), &why)) {
        work->peer.median = 0;
        if (why.text[0])
            note((void *)(uintptr_t)request, why.text);
    }
}

static void write_down(struct work *work)
{
    const struct measure *measure = &work->measure;
    const struct bench *bench = &work->bench;
    double of_limit = 0;
    json_t *timing =
        json_pack("{s:I, s:I, s:I}", "n", (json_int_t)bench->shape.n, "launches",
                  (json_int_t)bench->total_launches, "rounds", (json_int_t)measure->rounds);
    if (measure->rounds) {
        measure_write_times(measure, timing);
        if (work->limit.value > 0) {
            double achieved =
                limits_achieved(work->request->about->limit, bench->shape.bytes_moved,
                                bench->shape.flops, measure->each[MEASURE_YOURS].median);
            of_limit = limits_write(&work->limit, achieved, timing);
        }
        if (work->peer.median > 0)
            peer_write(&work->peer, bench, measure->each[MEASURE_YOURS].median, timing);
    }
    const char *why;
    enum measure_verdict verdict = judge(work, of_limit, &why);
    measure_write_verdict(measure, verdict, work->request->about->goal, why, timing);
    json_t *clocks = nvml_json(&work->state);
    if (clocks)
        json_object_set_new(timing, "clocks", clocks);
    summarise(work, verdict, why, of_limit);
    work->out->timing = timing;
}

/* The limit is a gift: where it can't be measured the timing stands without it. */
static void measure_limit(struct work *work)
{
    const struct timing_request *request = work->request;
    struct err ignored = {0};
    bool lost = false;
    if (!request->limits || request->about->limit == LIMIT_LAUNCH)
        return;
    if (!limits_measure(&work->limit, request->gpu, request->limits, request->about->limit, &lost,
                        &ignored)) {
        work->limit.value = 0;
        note((void *)(uintptr_t)request, ignored.text);
    }
    work->out->poisoned = work->out->poisoned || lost;
}

/* False: the bench broke; failure or error of the bench say how. */
static bool measure(struct work *work, const char *uuid)
{
    const struct timing_request *request = work->request;
    double budget = request->budget_ms > 0 ? request->budget_ms : TIMING_BUDGET_MS;
    struct measure_source source = {
        .context = &work->bench, .round = bench_round, .now_ms = bench_now_ms};
    if (!bench_calibrate(&work->bench) ||
        !measure_run(&work->measure, &source, MEASURE_PART * budget))
        return false;
    nvml_read(&work->state, uuid); /* now: the clocks are still those of the last launch */
    return true;
}

static bool time_and_check(struct work *work, const char *uuid, struct err *err)
{
    const struct timing_request *request = work->request;
    struct timing_result *out = work->out;
    json_t *wrong = NULL;
    bool ok =
        measure(work, uuid) && bench_check_last(&work->bench, lab_mix(request->seed, 1), &wrong);
    if (!ok && work->bench.failure.verdict != VERDICT_PASS) {
        take_failure(work);
        return true;
    }
    if (!ok) {
        *err = work->bench.error;
        return false;
    }
    if (wrong) {
        out->verdict = VERDICT_WRONG;
        out->failed_case = wrong;
        say(out->summary, sizeof out->summary,
            _("right when it was checked, wrong in the last timed launch, on new inputs"));
        return true;
    }
    measure_limit(work);
    if (!out->poisoned)
        measure_peer(work);
    write_down(work);
    return true;
}

bool timing_run(struct timing_result *out, const struct timing_request *request, struct err *err)
{
    *out = (struct timing_result){.verdict = VERDICT_PASS};
    struct work work = {.request = request, .out = out, .began_ms = clock_ms()};
    struct gpu_info info;
    struct turn turn;
    struct err refused = {0};
    const struct image *const images[] = {request->baseline, request->yours, request->solution};
    if (request->yours->ptx && strstr(request->yours->ptx, "vprintf"))
        return skip(out, _("the kernel prints: its time would be printf's; take printf out"));
    gpu_describe(request->gpu, &info);
    if (turn_take(&turn, NULL, info.uuid, TURN_MS, note_waiting, (void *)(uintptr_t)request) ==
        TURN_BUSY)
        return skip(out, _("another Stride timed on this GPU all the while; run again"));
    bool ok = true;
    if (bench_open(&work.bench, request->gpu, request->lab, request->about->entry,
                   request->about->time_size, request->seed, images, &refused)) {
        ok = time_and_check(&work, info.uuid, err);
        bench_close(&work.bench);
    } else {
        skip(out, refused.text);
    }
    measure_free(&work.measure);
    turn_give(&turn);
    return ok;
}

void timing_result_free(struct timing_result *result)
{
    json_decref(result->timing);
    json_decref(result->failed_case);
    *result = (struct timing_result){0};
}
