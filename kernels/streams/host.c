/* The lab streams for the harness: numbers in, numbers out, in host memory of the student's.
 *
 * The right answer needs no loop: k steps of x -> a x + c are one such step with another a and c. */
#include "kernels/streams/lab.h"

#include "harness/base/msg.h"
#include "harness/host/host_lab.h"

#include <math.h>
#include <stdio.h>

struct step {
    uint32_t multiplier, increment;
};

static struct step after(struct step first, struct step then)
{
    return (struct step){then.multiplier * first.multiplier,
                         then.multiplier * first.increment +
                             then.increment};
}

static struct step all_steps(void)
{
    struct step all = {1, 0},
                power = {kStreamsMultiplier, kStreamsIncrement};
    for (unsigned left = kStreamsSteps; left; left /= 2) {
        if (left % 2)
            all = after(all, power);
        power = after(power, power);
    }
    return all;
}

/* Differs from element to element, seed to seed and round to round. */
static uint32_t input_at(const struct host_round *round, size_t i)
{
    uint64_t x = round->seed * 0x9e3779b97f4a7c15u +
                 round->round * 0xd1b54a32d192ed03u + i;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

enum { POISON = 0xa5 }; /* what output holds before a run */

static uint32_t poison_at(size_t i)
{
    return (uint32_t)(POISON * 0x01010101u ^ (uint32_t)i);
}

static bool prepare(void *opaque, const struct host_round *first)
{
    struct StreamsWork *work = opaque;
    work->n = (size_t)first->n;
    return first->n > 0;
}

static bool fill(void *opaque, const struct host_round *round, char *why,
                 size_t why_len)
{
    struct StreamsWork *work = opaque;
    if (!work->input || !work->output) {
        snprintf(why, why_len,
                 _("%s left work->%s empty; it has to allocate it"),
                 "streamsOpen", work->input ? "output" : "input");
        return false;
    }
    for (size_t i = 0; i < work->n; i++) {
        work->input[i] = input_at(round, i);
        work->output[i] = poison_at(i);
    }
    return true;
}

/* Which of the usual mistakes leaves such an output. */
static void describe(const struct StreamsWork *work,
                     const struct host_round *round,
                     struct host_finding *out, size_t last)
{
    const size_t first = out->index;
    const uint32_t got = work->output[first];
    struct host_round before = *round;
    before.round -= round->round > 0;
    const struct step all = all_steps();
    const uint32_t stale =
        all.multiplier * input_at(&before, first) + all.increment;
    const char *what = "";
    if (got == poison_at(first))
        what = _("; nothing was ever written there");
    else if (got == input_at(round, first))
        what = _("; it is still the input, which no kernel has advanced");
    else if (round->round && got == stale)
        what = _("; it is the result of the round before");
    if (out->wrong_count == 1)
        snprintf(out->text, sizeof out->text,
                 _("only output[%zu] is wrong%s"), first, what);
    else
        snprintf(
            out->text, sizeof out->text,
            last - first + 1 == out->wrong_count
                ? _("output[%zu] to output[%zu], %zu in a row, are wrong%s")
                : _("output[%zu] is the first that is wrong and "
                    "output[%zu] "
                    "the last, %zu in all%s"),
            first, last, out->wrong_count, what);
}

static void judge(const void *opaque, const void *solution,
                  const struct host_round *round, struct host_finding *out)
{
    const struct StreamsWork *work = opaque;
    const struct step all = all_steps();
    size_t last = 0;
    (void)solution;
    *out = (struct host_finding){.verdict = VERDICT_PASS,
                                 .checked_count = work->n};
    for (size_t i = 0; i < work->n; i++) {
        const uint32_t want =
            all.multiplier * input_at(round, i) + all.increment;
        const uint32_t got = work->output[i];
        if (got == want)
            continue;
        const double error = fabs((double)got - (double)want);
        out->max_error = error > out->max_error ? error : out->max_error;
        last = i;
        if (out->wrong_count++ > 0)
            continue;
        out->verdict = VERDICT_WRONG;
        out->buffer = "output";
        out->index = i;
        out->want = (double)want;
        out->got = (double)got;
    }
    if (out->wrong_count)
        describe(work, round, out, last);
    else
        for (size_t i = 0; i < work->n && !out->wrong_count; i++)
            if (work->input[i] != input_at(round, i)) {
                out->verdict = VERDICT_WRONG;
                out->wrong_count = 1;
                out->buffer = "input";
                out->index = i;
                out->want = (double)input_at(round, i);
                out->got = (double)work->input[i];
                snprintf(out->text, sizeof out->text,
                         _("input[%zu] was changed; the input has to stay "
                           "as it is"),
                         i);
            }
}

static double bytes_moved(uint64_t n)
{
    return 2.0 * sizeof(uint32_t) * (double)n;
}

const struct host_lab host_lab_streams = {
    .slug = "streams",
    .open = "streamsOpen",
    .run = "streamsRun",
    .close = "streamsClose",
    .work_bytes = sizeof(struct StreamsWork),
    .rounds = 3,
    .prepare = prepare,
    .fill = fill,
    .judge = judge,
    .bytes_moved = bytes_moved,
};
