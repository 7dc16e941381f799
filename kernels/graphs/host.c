/* The lab graphs for the harness: temperatures in, temperatures out, in host memory of the
 * student's. From round to round the inputs and the factor change, so that whatever a graph
 * remembers too well shows. */
#include "kernels/graphs/lab.h"

#include "harness/base/msg.h"
#include "harness/host/host_lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* In float, a step of values below 1 is off by three roundings at most; 40 steps add up. */
static const double tolerance = 1e-5;

/* From 0 to below 1; differs from element to element, seed to seed and round to round. */
static float input_at(const struct host_round *round, size_t i)
{
    uint64_t x = round->seed * 0x9e3779b97f4a7c15u +
                 round->round * 0xd1b54a32d192ed03u + i;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return (float)(x >> 40) / (float)(1 << 24);
}

/* Two rounds in a row differ by 0.15 at least. */
static float factor_of(const struct host_round *round)
{
    return 0.1f + 0.05f * (float)((round->seed + 3 * round->round) % 8);
}

static struct host_round round_before(const struct host_round *round)
{
    struct host_round before = *round;
    before.round -= round->round > 0;
    return before;
}

/* All steps, in double, with the inputs and the factor of any two rounds. free() it. */
static double *all_steps(size_t n, const struct host_round *inputs,
                         const struct host_round *factors)
{
    double *both = malloc(2 * n * sizeof *both);
    if (!both)
        abort();
    const double factor = factor_of(factors);
    double *now = both, *next = both + n;
    for (size_t i = 0; i < n; i++)
        now[i] = input_at(inputs, i);
    for (int step = 0; step < kGraphsSteps;
         step++) { /* even: the result is in the first half */
        for (size_t i = 0; i < n; i++) {
            const double left = now[i ? i - 1 : 0],
                         right = now[i + 1 < n ? i + 1 : i];
            next[i] = now[i] + factor * (left - 2 * now[i] + right);
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    return both;
}

static bool same(const float *got, const double *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= tolerance))
            return false;
    return true;
}

static bool is_result_of(const struct GraphsWork *work,
                         const struct host_round *inputs,
                         const struct host_round *factors)
{
    double *result = all_steps(work->n, inputs, factors);
    const bool is = same(work->output, result, work->n);
    free(result);
    return is;
}

static bool prepare(void *opaque, const struct host_round *first)
{
    struct GraphsWork *work = opaque;
    work->n = (size_t)first->n;
    return first->n > 0;
}

static bool fill(void *opaque, const struct host_round *round, char *why,
                 size_t why_len)
{
    struct GraphsWork *work = opaque;
    if (!work->input || !work->output) {
        snprintf(why, why_len,
                 _("%s left work->%s empty; it has to allocate it"),
                 "graphsOpen", work->input ? "output" : "input");
        return false;
    }
    work->factor = factor_of(round);
    for (size_t i = 0; i < work->n; i++) {
        work->input[i] = input_at(round, i);
        work->output[i] = NAN;
    }
    return true;
}

/* Which of the usual mistakes leaves such an output. */
static void describe(const struct GraphsWork *work,
                     const struct host_round *round,
                     struct host_finding *out)
{
    const struct host_round before = round_before(round);
    const char *what = "";
    if (isnan(work->output[out->index]))
        what = _("; nothing was ever written there");
    else if (round->round && is_result_of(work, round, &before))
        what = _("; with the factor of the run before it would be right");
    else if (round->round && is_result_of(work, &before, round))
        what = _("; with the input of the run before it would be right");
    else if (round->round && is_result_of(work, &before, &before))
        what = _("; it is the result of the run before");
    snprintf(out->text, sizeof out->text, _("in run %u%s"),
             round->round + 1, what);
}

static void input_kept(const struct GraphsWork *work,
                       const struct host_round *round,
                       struct host_finding *out)
{
    for (size_t i = 0; i < work->n; i++) {
        const float want = input_at(round, i), got = work->input[i];
        if (!(fabsf(got - want) > 0) && !isnan(got))
            continue;
        out->verdict = VERDICT_WRONG;
        out->buffer = "input";
        out->index = i;
        out->wrong_count = 1;
        out->want = (double)want;
        out->got = (double)got;
        snprintf(
            out->text, sizeof out->text,
            _("input[%zu] was changed; the input has to stay as it is"), i);
        return;
    }
}

static void judge(const void *opaque, const void *solution,
                  const struct host_round *round, struct host_finding *out)
{
    const struct GraphsWork *work = opaque;
    double *want = all_steps(work->n, round, round);
    (void)solution;
    *out = (struct host_finding){.verdict = VERDICT_PASS,
                                 .checked_count = work->n,
                                 .tolerance = tolerance};
    for (size_t i = 0; i < work->n; i++) {
        const double got = (double)work->output[i],
                     error = fabs(got - want[i]);
        out->max_error = fmax(out->max_error, error); /* past NaN */
        if (error <= tolerance || out->wrong_count++ > 0)
            continue;
        out->verdict = VERDICT_WRONG;
        out->buffer = "output";
        out->index = i;
        out->want = want[i];
        out->got = got;
    }
    free(want);
    if (out->wrong_count)
        describe(work, round, out);
    else
        input_kept(work, round, out);
}

static double bytes_moved(uint64_t n)
{
    return 2.0 * sizeof(float) * (double)n;
}

const struct host_lab host_lab_graphs = {
    .slug = "graphs",
    .open = "graphsOpen",
    .run = "graphsRun",
    .close = "graphsClose",
    .work_bytes = sizeof(struct GraphsWork),
    .rounds = 3,
    .prepare = prepare,
    .fill = fill,
    .judge = judge,
    .bytes_moved = bytes_moved,
};
