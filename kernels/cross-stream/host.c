/* The lab cross-stream for the harness: numbers in, sums out, in host memory of the student's.
 *
 * The right answer needs neither loop: k steps of x -> a x + c are one such step with another a
 * and c, and a window's sum follows from the one before it. */
#include "kernels/cross-stream/lab.h"

#include "harness/base/msg.h"
#include "harness/host/host_lab.h"

#include <stdio.h>

/* Fewer pieces of a small problem, so that a piece takes longer than queueing it. */
enum { MANY = 1 << 20, MANY_PIECES = 16, FEW_PIECES = 6, PIECE_UNIT = 256 };

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
    struct step all = {1, 0}, power = {kCrossMultiplier, kCrossIncrement};
    for (unsigned left = kCrossSteps; left; left /= 2) {
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

static uint32_t poison_at(size_t i)
{
    return 0xa5a5a5a5u ^ (uint32_t)i; /* what output holds before a run */
}

/* The right answers, one after the other from sum 0 on. */
struct expected {
    const struct host_round *round;
    struct step all;
    size_t next;
    uint32_t sum;
};

static struct expected expect(const struct host_round *round)
{
    return (struct expected){.round = round, .all = all_steps()};
}

static uint32_t advanced(const struct expected *expected, size_t i)
{
    return expected->all.multiplier * input_at(expected->round, i) +
           expected->all.increment;
}

static uint32_t expected_next(struct expected *expected)
{
    const size_t i = expected->next++;
    expected->sum += advanced(expected, i);
    if (i >= kCrossWindow)
        expected->sum -= advanced(expected, i - kCrossWindow);
    return expected->sum;
}

static uint32_t expected_at(const struct host_round *round, size_t i)
{
    struct expected expected = expect(round);
    uint32_t sum = 0;
    for (size_t at = i < kCrossWindow ? 0 : i - kCrossWindow + 1; at <= i;
         at++)
        sum += advanced(&expected, at);
    return sum;
}

static bool prepare(void *opaque, const struct host_round *first)
{
    struct CrossWork *work = opaque;
    const size_t n = (size_t)first->n,
                 pieces = n < MANY ? FEW_PIECES : MANY_PIECES;
    const size_t share = (n + pieces - 1) / pieces;
    work->n = n;
    work->piece = (share + PIECE_UNIT - 1) / PIECE_UNIT * PIECE_UNIT;
    return n > 0;
}

static bool fill(void *opaque, const struct host_round *round, char *why,
                 size_t why_len)
{
    struct CrossWork *work = opaque;
    if (!work->input || !work->output) {
        snprintf(why, why_len,
                 _("%s left work->%s empty; it has to allocate it"),
                 "crossOpen", work->input ? "output" : "input");
        return false;
    }
    for (size_t i = 0; i < work->n; i++) {
        work->input[i] = input_at(round, i);
        work->output[i] = poison_at(i);
    }
    return true;
}

/* Which of the usual mistakes leaves such an output. Wrong elements that are all near a piece's
 * beginning lack the end of the piece before. */
static void describe(const struct CrossWork *work,
                     const struct host_round *round,
                     struct host_finding *out, size_t last,
                     bool all_near_beginnings)
{
    const size_t first = out->index;
    const uint32_t got = work->output[first];
    struct host_round before = *round;
    before.round -= round->round > 0;
    const char *what = "";
    if (got == poison_at(first))
        what = _("; nothing was ever written there");
    else if (round->round && got == expected_at(&before, first))
        what = _("; the first is the result of the round before");
    else if (all_near_beginnings)
        what = _("; all of them are among a piece's first 31, where the "
                 "piece before counts too");
    const size_t first_piece = first / work->piece,
                 last_piece = last / work->piece;
    if (first_piece == last_piece)
        snprintf(out->text, sizeof out->text, _("in piece %zu%s"),
                 first_piece, what);
    else
        snprintf(out->text, sizeof out->text, _("in pieces %zu to %zu%s"),
                 first_piece, last_piece, what);
}

static bool input_kept(const struct CrossWork *work,
                       const struct host_round *round,
                       struct host_finding *out)
{
    for (size_t i = 0; i < work->n; i++)
        if (work->input[i] != input_at(round, i)) {
            *out = (struct host_finding){.verdict = VERDICT_WRONG,
                                         .buffer = "input",
                                         .index = i,
                                         .wrong_count = 1,
                                         .checked_count = work->n,
                                         .want = (double)input_at(round, i),
                                         .got = (double)work->input[i]};
            snprintf(
                out->text, sizeof out->text,
                _("input[%zu] was changed; the input has to stay as it is"),
                i);
            return false;
        }
    return true;
}

static void judge(const void *opaque, const void *solution,
                  const struct host_round *round, struct host_finding *out)
{
    const struct CrossWork *work = opaque;
    struct expected expected = expect(round);
    size_t last = 0;
    bool all_near_beginnings = true;
    (void)solution;
    *out = (struct host_finding){.verdict = VERDICT_PASS,
                                 .checked_count = work->n};
    for (size_t i = 0; i < work->n; i++) {
        const uint32_t want = expected_next(&expected),
                       got = work->output[i];
        if (got == want)
            continue;
        const double error =
            got > want ? (double)(got - want) : (double)(want - got);
        out->max_error = error > out->max_error ? error : out->max_error;
        all_near_beginnings =
            all_near_beginnings && i % work->piece < kCrossWindow - 1;
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
        describe(work, round, out, last, all_near_beginnings);
    else
        (void)input_kept(work, round, out);
}

static double bytes_moved(uint64_t n)
{
    return 2.0 * sizeof(uint32_t) * (double)n;
}

const struct host_lab host_lab_cross_stream = {
    .slug = "cross-stream",
    .open = "crossOpen",
    .run = "crossRun",
    .close = "crossClose",
    .work_bytes = sizeof(struct CrossWork),
    .rounds = 3,
    .prepare = prepare,
    .fill = fill,
    .judge = judge,
    .bytes_moved = bytes_moved,
};
