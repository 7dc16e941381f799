#include "timed.h"

#include "calls.h"
#include "found.h"
#include "lines.h"
#include "tell.h"
#include "timeline.h"

#include "harness/base/buf.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>

#define SAMPLE_MS 0.5 /* a sample that is shorter says more about the clock than about the run */

enum { REPEAT_MOST = 64, FRESH_ROUND = 1000, BUS_BYTES = 64 << 20, BUS_TRIES = 6 };
enum { TO_DEVICE = 1, TO_HOST = 2, NON_BLOCKING = 1 }; /* of cudaMemcpyKind and stream flags */

/* True when something failed; the command is over then. */
static bool failed(struct timed *timed, bool yours, int after)
{
    json_t *fault = trial_fault(timed->trial->lab->run, after);
    if (!fault)
        return false;
    char text[600];
    trial_fault_sentence(fault, text, sizeof text);
    tell_end(yours ? VERDICT_FAULT : VERDICT_CANNOT_RUN, text);
    json_decref(fault);
    return true;
}

static const struct object *object_of(const struct timed *timed, int kind)
{
    const struct trial *trial = timed->trial;
    return kind == TIMED_BASELINE ? &trial->baseline
           : kind == TIMED_YOURS  ? &trial->yours
                                  : &trial->solution;
}

/* Milliseconds of one run, device included; negative when it failed. */
static double sample(struct timed *timed, int kind, unsigned repeat)
{
    const struct side *side = &timed->sides[kind];
    int after = timed->trial->runtime->cudaDeviceSynchronize();
    double start = clock_ms();
    for (unsigned i = 0; i < repeat; i++)
        side->object->run(side->work);
    after = after ? after : timed->trial->runtime->cudaDeviceSynchronize();
    double ms = (clock_ms() - start) / repeat;
    return failed(timed, kind == TIMED_YOURS, after) ? -1 : ms;
}

/* Other inputs for one side, from a round that no case used. */
static bool refill(struct timed *timed, int kind, unsigned round)
{
    struct host_round fresh = {timed->n, timed->trial->seed, round};
    char why[320];
    if (timed->trial->lab->fill(timed->sides[kind].work, &fresh, why, sizeof why))
        return true;
    tell_end(kind == TIMED_YOURS ? VERDICT_WRONG : VERDICT_CANNOT_RUN, why);
    return false;
}

static bool open_side(struct timed *timed, int kind)
{
    tell_phase(kind == TIMED_YOURS ? "open" : "solution", timed->n, 0);
    if (!object_of(timed, kind)->handle) {
        tell_end(VERDICT_CANNOT_RUN, _("there is no baseline to time against"));
        return false;
    }
    if (!side_open(&timed->sides[kind], timed->trial, object_of(timed, kind), timed->n)) {
        tell_end(VERDICT_CANNOT_RUN, _("the lab has no such size"));
        return false;
    }
    int after = timed->trial->runtime->cudaDeviceSynchronize();
    return !failed(timed, kind == TIMED_YOURS, after) && refill(timed, kind, FRESH_ROUND);
}

void timed_open(struct timed *timed, uint64_t n)
{
    double ms = 0;
    timed->n = n;
    timed->repeat = 1;
    calls_reset();
    for (int kind = 0; kind < TIMED_KINDS; kind++)
        if (!open_side(timed, kind))
            return;
    for (int kind = 0; kind < TIMED_KINDS; kind++) {
        tell_phase(kind == TIMED_YOURS ? "run" : "solution", n, FRESH_ROUND);
        ms = sample(timed, kind, 1);
        ms = ms < 0 ? ms : sample(timed, kind, 1);
        if (ms < 0)
            return;
    }
    while (timed->repeat < REPEAT_MOST && ms * timed->repeat < SAMPLE_MS)
        timed->repeat *= 2;
    tell_end(VERDICT_PASS, "");
}

void timed_round(struct timed *timed, const int order[TIMED_KINDS])
{
    double ms[TIMED_KINDS] = {0};
    tell_phase("run", timed->n, FRESH_ROUND);
    calls_reset();
    for (int i = 0; i < TIMED_KINDS; i++) {
        int kind = order[i];
        if (kind < 0 || kind >= TIMED_KINDS || !timed->sides[kind].work) {
            tell_end(VERDICT_CANNOT_RUN, "no such object is open");
            return;
        }
        ms[kind] = sample(timed, kind, timed->repeat);
        if (ms[kind] < 0)
            return;
    }
    tell(json_pack("{s:[f, f, f]}", "times", ms[0], ms[1], ms[2]));
    tell_end(VERDICT_PASS, "");
}

void timed_check(struct timed *timed)
{
    struct host_round fresh = {timed->n, timed->trial->seed, FRESH_ROUND + 1};
    struct host_finding finding = {.verdict = VERDICT_PASS};
    static const int kinds[] = {TIMED_SOLUTION, TIMED_YOURS};
    for (size_t i = 0; i < 2; i++) {
        tell_phase(kinds[i] == TIMED_YOURS ? "run" : "solution", timed->n, fresh.round);
        if (!refill(timed, kinds[i], fresh.round) || sample(timed, kinds[i], 1) < 0)
            return;
    }
    timed->trial->lab->judge(timed->sides[TIMED_YOURS].work, timed->sides[TIMED_SOLUTION].work,
                             &fresh, &finding);
    tell_end(finding.verdict, finding.text);
}

/* ---- the bus */

struct bus {
    void *host[2], *device[2], *streams[2];
};

static bool open_bus(struct bus *bus, const struct runtime *runtime)
{
    *bus = (struct bus){0};
    for (int i = 0; i < 2; i++)
        if (runtime->cudaHostAlloc(&bus->host[i], BUS_BYTES, 0) ||
            runtime->cudaMalloc(&bus->device[i], BUS_BYTES) ||
            runtime->cudaStreamCreateWithFlags(&bus->streams[i], NON_BLOCKING))
            return false;
    return true;
}

static void close_bus(struct bus *bus, const struct runtime *runtime)
{
    for (int i = 0; i < 2; i++) {
        if (bus->streams[i])
            runtime->cudaStreamDestroy(bus->streams[i]);
        runtime->cudaFree(bus->device[i]);
        runtime->cudaFreeHost(bus->host[i]);
    }
}

void timed_limit(struct timed *timed)
{
    const struct runtime *runtime = timed->trial->runtime;
    struct bus bus;
    double best_ms = 0;
    tell_phase("solution", timed->n, 0);
    bool ok = open_bus(&bus, runtime);
    for (int i = 0; ok && i < BUS_TRIES; i++) {
        double start = clock_ms();
        ok = !runtime->cudaMemcpyAsync(bus.device[0], bus.host[0], BUS_BYTES, TO_DEVICE,
                                       bus.streams[0]) &&
             !runtime->cudaMemcpyAsync(bus.host[1], bus.device[1], BUS_BYTES, TO_HOST,
                                       bus.streams[1]) &&
             !runtime->cudaDeviceSynchronize();
        double ms = clock_ms() - start;
        best_ms = best_ms == 0 || ms < best_ms ? ms : best_ms;
    }
    close_bus(&bus, runtime);
    if (ok && best_ms > 0)
        tell(json_pack("{s:f}", "limit", 2.0 * BUS_BYTES / best_ms / 1e6));
    double moved = timed->trial->lab->bytes_moved ? timed->trial->lab->bytes_moved(timed->n) : 0;
    tell(json_pack("{s:f}", "bytes_moved", moved));
    tell_end(VERDICT_PASS, "");
}

/* ---- the timeline */

static bool trace_side(struct timed *timed, int kind, struct spans *spans, struct err *err)
{
    const struct side *side = &timed->sides[kind];
    tell_phase(kind == TIMED_YOURS ? "run" : "solution", timed->n, FRESH_ROUND);
    if (!cupti_start(timed->cupti, err))
        return false;
    side->object->run(side->work);
    timed->trial->runtime->cudaDeviceSynchronize();
    return cupti_stop(timed->cupti, kind == TIMED_YOURS ? lines_of_call : NULL, spans, err);
}

static void tell_trace(const struct timed *timed, const struct spans *yours,
                       const struct spans *baseline)
{
    struct timeline_measures measures;
    json_t *timeline = timeline_make(yours, false), *other = timeline_make(baseline, false);
    if (timeline && other)
        timeline_set_baseline(timeline, other);
    json_decref(other);
    if (!timeline)
        return;
    timeline_measure(yours, &measures);
    tell(json_pack("{s:{s:I, s:s, s:f, s:f, s:i}}", "metrics", "n", (json_int_t)timed->n, "backend",
                   "gpu", "copy_overlap", measures.overlap, "work_overlap", measures.work_overlap,
                   "pageable_copies", (int)measures.pageable_copies));
    tell(json_pack("{s:o}", "timeline", timeline));
}

void timed_trace(struct timed *timed)
{
    struct spans yours = {0}, baseline = {0};
    struct err err = {0};
    if (!timed->cupti)
        snprintf(err.text, sizeof err.text, "%s", timed->no_cupti);
    else if (trace_side(timed, TIMED_YOURS, &yours, &err) &&
             trace_side(timed, TIMED_BASELINE, &baseline, &err))
        tell_trace(timed, &yours, &baseline);
    if (err.text[0])
        tell(json_pack("{s:o}", "no_trace", json_text(err.text)));
    spans_free(&yours);
    spans_free(&baseline);
    tell_end(VERDICT_PASS, "");
}

void timed_close(struct timed *timed)
{
    for (int kind = 0; kind < TIMED_KINDS; kind++) {
        tell_phase(kind == TIMED_YOURS ? "close" : "solution", timed->n, FRESH_ROUND);
        side_close(&timed->sides[kind], timed->trial);
    }
    tell_end(VERDICT_PASS, "");
}
