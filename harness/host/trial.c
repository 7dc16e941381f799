/* How to read this file: trial_check runs each size with run_case. There the solution does every
 * round first, then the student's functions; each call of them is followed by inspect (what failed,
 * what the simulated runtime found) and, after run, by judge. A struct found collects the worst. */
#include "trial.h"

#include "calls.h"
#include "found.h"
#include "lines.h"
#include "tell.h"
#include "timeline.h"

#include "harness/base/buf.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one run showed, for the lab's structure. */
struct metrics {
    unsigned host_waits, graph_launches, launches, instantiations;
    int wait_line;
};

/* ---- sides */

bool side_open(struct side *side, const struct trial *trial, const struct object *object,
               uint64_t n)
{
    struct host_round first = {n, trial->seed, 0};
    *side = (struct side){.object = object, .work = mem_zero(1, trial->lab->work_bytes)};
    if (!trial->lab->prepare(side->work, &first)) {
        free(side->work);
        side->work = NULL;
        return false;
    }
    object->open(side->work);
    side->opened = true;
    return true;
}

void side_close(struct side *side, const struct trial *trial)
{
    if (side->opened)
        side->object->close(side->work);
    if (side->work && trial->lab->release)
        trial->lab->release(side->work);
    free(side->work);
    *side = (struct side){0};
}

/* ---- one round */

static bool may_go_on(const struct found *found)
{
    return found->verdict == VERDICT_PASS || found->verdict == VERDICT_HAZARD;
}

/* It ran to its end, rightly or not. */
static bool ran(const struct found *found)
{
    return may_go_on(found) || found->verdict == VERDICT_WRONG;
}

static json_t *number(double value)
{
    if (isnan(value))
        return json_string("nan");
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    if (floor(value) == value && fabs(value) < 1e15) /* all digits of an integer */
        return json_integer((json_int_t)value);
    return json_real(value);
}

static void take_finding(struct found *found, const struct host_finding *finding)
{
    found->max_error = fmax(found->max_error, finding->max_error);
    found->tolerance = finding->tolerance;
    if (finding->verdict == VERDICT_PASS || found->mismatch)
        return;
    struct buf text = {0};
    if (finding->buffer) {
        found->mismatch =
            json_pack("{s:s, s:I, s:o, s:o, s:I, s:I}", "buffer", finding->buffer, "index",
                      (json_int_t)finding->index, "want", number(finding->want), "got",
                      number(finding->got), "wrong_count", (json_int_t)finding->wrong_count,
                      "checked_count", (json_int_t)finding->checked_count);
        if (finding->text[0])
            json_object_set_new(found->mismatch, "pattern", json_text(finding->text));
        buf_printf(&text, _("%s[%lld] should be "), finding->buffer, (long long)finding->index);
        buf_printf(&text, "%.10g%s%.10g", finding->want, _(", is "), finding->got);
        if (finding->text[0])
            buf_printf(&text, " (%s)", finding->text);
    } else {
        buf_add_str(&text, finding->text);
    }
    found_worsen(found, finding->verdict, buf_str(&text));
    buf_free(&text);
}

static void count_calls(struct metrics *metrics, unsigned round)
{
    unsigned instantiations = calls_count(API_cudaGraphInstantiate) +
                              calls_count(API_cudaGraphInstantiateWithFlags) +
                              calls_count(API_cudaGraphInstantiateWithParams) +
                              calls_count(API_cudaGraphInstantiateWithParams_ptsz);
    metrics->instantiations += round ? instantiations : 0;
    metrics->host_waits = calls_blocking();
    metrics->wait_line = lines_of_call(calls_blocking_site());
    metrics->graph_launches =
        calls_count(API_cudaGraphLaunch) + calls_count(API_cudaGraphLaunch_ptsz);
    metrics->launches = calls_count(API_cudaLaunchKernel) + calls_count(API_cudaLaunchKernel_ptsz) +
                        calls_count(API___cudaLaunchKernel) +
                        calls_count(API___cudaLaunchKernel_ptsz);
}

static void run_round(struct trial *trial, struct found *found, const struct side *solution,
                      const struct side *yours, const struct host_round *round,
                      struct metrics *metrics, struct spans *spans)
{
    const struct host_lab *lab = trial->lab;
    char why[320] = "";
    tell_phase("solution", round->n, round->round);
    if (!lab->fill(solution->work, round, why, sizeof why))
        found_worsen(found, VERDICT_CANNOT_RUN, why);
    solution->object->run(solution->work);
    found_discard(trial, found, trial->yours_ran ? lab->run : NULL);
    if (found->solution_failed)
        return;
    tell_phase("fill", round->n, round->round);
    if (!lab->fill(yours->work, round, why, sizeof why)) {
        found_worsen(found, VERDICT_WRONG, why);
        return;
    }
    calls_reset();
    tell_phase("run", round->n, round->round);
    yours->object->run(yours->work);
    trial->yours_ran = true;
    count_calls(metrics, round->round);
    tell_phase("wait", round->n, round->round);
    found_inspect(trial, found, round->n, lab->run, spans);
    if (!ran(found))
        return;
    tell_phase("judge", round->n, round->round);
    struct host_finding finding = {.verdict = VERDICT_PASS};
    lab->judge(yours->work, solution->work, round, &finding);
    take_finding(found, &finding);
}

/* ---- one case */

static void run_yours(struct trial *trial, struct found *found, const struct side *solution,
                      uint64_t n, struct metrics *metrics, struct spans *spans)
{
    struct side yours;
    calls_reset();
    tell_phase("open", n, 0);
    side_open(&yours, trial, &trial->yours, n);
    found_inspect(trial, found, n, trial->lab->open, NULL);
    for (unsigned r = 0; r < trial->lab->rounds && may_go_on(found) && !found->lost; r++) {
        struct host_round round = {n, trial->seed, r};
        run_round(trial, found, solution, &yours, &round, metrics, spans);
    }
    if (found->lost || found->solution_failed)
        return;
    calls_reset();
    tell_phase("close", n, 0);
    side_close(&yours, trial);
    found_inspect(trial, found, n, trial->lab->close, NULL);
    if (found->verdict != VERDICT_FAULT && found->verdict != VERDICT_TIMED_OUT)
        found_leaks(trial, found, n);
}

static void run_case(struct trial *trial, struct found *found, uint64_t n, struct metrics *metrics,
                     struct spans *spans)
{
    struct side solution;
    *found = (struct found){.verdict = VERDICT_PASS};
    tell_phase("solution", n, 0);
    calls_reset();
    if (!side_open(&solution, trial, &trial->solution, n)) {
        found_worsen(found, VERDICT_CANNOT_RUN, _("the lab has no such size"));
        return;
    }
    found_discard(trial, found, trial->yours_ran ? trial->lab->run : NULL);
    if (!found->solution_failed)
        run_yours(trial, found, &solution, n, metrics, spans);
    if (found->lost)
        return; /* whatever touches the device now fails or waits for ever */
    tell_phase("solution", n, 0);
    side_close(&solution, trial);
    struct found ignored = {.verdict = VERDICT_PASS};
    found_discard(trial, &ignored, NULL);
}

static json_t *case_json(const struct trial *trial, struct found *found, uint64_t n, double ms)
{
    json_t *entry = json_pack("{s:I, s:I, s:s, s:s, s:f, s:f, s:f}", "n", (json_int_t)n, "seed",
                              (json_int_t)trial->seed, "backend", trial->simulated ? "sim" : "gpu",
                              "verdict", verdict_name(found->verdict), "max_error",
                              isfinite(found->max_error) ? found->max_error : 0.0, "tolerance",
                              found->tolerance, "ms", round(ms * 1000) / 1000);
    if (found->mismatch)
        json_object_set_new(entry, "mismatch", found->mismatch);
    if (found->fault)
        json_object_set_new(entry, "fault", found->fault);
    if (found->text[0])
        json_object_set_new(entry, "text", json_text(found->text));
    found->mismatch = found->fault = NULL;
    return entry;
}

/* ---- the lab's structure, seen at the largest size */

static void tell_metrics(const struct trial *trial, const struct metrics *metrics,
                         const struct spans *spans, uint64_t n)
{
    json_t *out = json_pack(
        "{s:I, s:s, s:i, s:i, s:i, s:i, s:i}", "n", (json_int_t)n, "backend",
        trial->simulated ? "sim" : "gpu", "host_waits", (int)metrics->host_waits, "instantiations",
        (int)metrics->instantiations, "graph_launches", (int)metrics->graph_launches, "launches",
        (int)metrics->launches, "wait_line", metrics->wait_line);
    if (spans->count) {
        struct timeline_measures measures;
        timeline_measure(spans, &measures);
        json_object_set_new(out, "copy_overlap", json_real(measures.overlap));
        json_object_set_new(out, "work_overlap", json_real(measures.work_overlap));
        json_object_set_new(out, "pageable_copies", json_integer(measures.pageable_copies));
    }
    tell(json_pack("{s:o}", "metrics", out));
}

/* A run of the baseline, for the eye: its bars stand beside the student's. */
static json_t *baseline_timeline(struct trial *trial, uint64_t n)
{
    struct side side;
    struct host_round round = {n, trial->seed, 0};
    struct sim_report report = {0};
    char why[320];
    if (!trial->baseline.handle)
        return NULL;
    tell_phase("solution", n, 0);
    if (!side_open(&side, trial, &trial->baseline, n))
        return NULL;
    sim_take_report(&report);
    sim_report_free(&report);
    json_t *timeline = NULL;
    /* The second run: in the first, each kernel is loaded. */
    for (; round.round < 2 && trial->lab->fill(side.work, &round, why, sizeof why); round.round++) {
        side.object->run(side.work);
        trial->runtime->cudaDeviceSynchronize();
        sim_take_report(&report);
        json_decref(timeline);
        timeline = timeline_make(&report.spans, true);
        sim_report_free(&report);
    }
    side_close(&side, trial);
    return timeline;
}

static void tell_timeline(struct trial *trial, const struct spans *spans, uint64_t n)
{
    json_t *timeline = trial->simulated ? timeline_make(spans, true) : NULL;
    if (!timeline)
        return;
    timeline_mark_hazards(timeline, trial->hazards);
    json_t *baseline = baseline_timeline(trial, n);
    if (baseline)
        timeline_set_baseline(timeline, baseline);
    json_decref(baseline);
    tell(json_pack("{s:o}", "timeline", timeline));
}

void trial_check(struct trial *trial, const uint64_t *sizes, size_t count)
{
    struct found worst = {.verdict = VERDICT_PASS};
    struct metrics metrics = {0};
    struct spans spans = {0};
    uint64_t worst_n = 0;
    size_t done = 0;
    trial->hazards = json_array();
    for (; done < count && ran(&worst) && !worst.lost; done++) {
        struct found found;
        double start = clock_ms();
        metrics = (struct metrics){0};
        run_case(trial, &found, sizes[done], &metrics, &spans);
        tell_add("cases", case_json(trial, &found, sizes[done], clock_ms() - start));
        worst.lost |= found.lost;
        if (found.verdict != VERDICT_PASS) {
            worst_n = verdict_worse(worst.verdict, found.verdict) == worst.verdict ? worst_n
                                                                                   : sizes[done];
            found_worsen(&worst, found.verdict, found.text);
        }
    }
    for (size_t left = done; left < count; left++)
        tell_add("cases",
                 json_pack("{s:I, s:I, s:s, s:s}", "n", (json_int_t)sizes[left], "seed",
                           (json_int_t)trial->seed, "backend", trial->simulated ? "sim" : "gpu",
                           "not_run", _("an earlier case broke off")));
    size_t i;
    json_t *hazard;
    json_array_foreach(trial->hazards, i, hazard)
        tell_add("hazards", json_incref(hazard));
    if (done == count && !worst.lost && ran(&worst)) {
        tell_metrics(trial, &metrics, &spans, sizes[count - 1]);
        tell_timeline(trial, &spans, sizes[count - 1]);
    }
    spans_free(&spans);
    char summary[900];
    if (worst.verdict == VERDICT_PASS)
        snprintf(summary, sizeof summary,
                 count == 1 ? _("passes its only case") : _("passes all %u cases"),
                 (unsigned)count);
    else
        snprintf(summary, sizeof summary, _("N = %llu: %s"), (unsigned long long)worst_n,
                 worst.text);
    tell_end(worst.verdict, summary);
}
