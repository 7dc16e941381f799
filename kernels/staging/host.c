/* The lab staging for the harness: an input in the harness's own pageable memory, checksums back.
 *
 * A checksum covers kStagingBlock numbers and depends on where each of them stands, so one number
 * that is missing, stale or in another place shows. */
#include "kernels/staging/lab.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"
#include "harness/host/host_lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LARGE_PIECE = 1 << 21, /* numbers: 8 MiB */
    POISON = 0x5a5a5a5a
};

/* Differs from element to element, seed to seed and round to round. */
static uint32_t input_at(const struct host_round *round, size_t i)
{
    uint64_t x = round->seed * 0x9e3779b97f4a7c15u +
                 round->round * 0xd1b54a32d192ed03u + i;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

/* Small sizes have five pieces or so, large ones pieces of 8 MiB. */
static bool prepare(void *opaque, const struct host_round *first)
{
    struct StagingWork *work = opaque;
    if (first->n == 0)
        return false;
    work->n = (size_t)first->n;
    work->piece = work->n / 5 + 1;
    if (work->piece > LARGE_PIECE)
        work->piece = LARGE_PIECE;
    work->blocks = (work->n + kStagingBlock - 1) / kStagingBlock;
    work->input = mem_alloc(work->n * sizeof(uint32_t));
    return true;
}

static bool fill(void *opaque, const struct host_round *round, char *why,
                 size_t why_len)
{
    struct StagingWork *work = opaque;
    uint32_t *input = (uint32_t *)(uintptr_t)work->input;
    if (!work->sums) {
        snprintf(why, why_len,
                 _("%s left work->%s empty; it has to allocate it"),
                 "stagingOpen", "sums");
        return false;
    }
    for (size_t i = 0; i < work->n; i++)
        input[i] = input_at(round, i);
    for (size_t i = 0; i < work->blocks; i++)
        work->sums[i] = POISON;
    return true;
}

static uint32_t checksum(const struct host_round *round, size_t n,
                         size_t block)
{
    uint32_t sum = 0;
    const size_t first = block * kStagingBlock;
    for (size_t i = 0; i < kStagingBlock && first + i < n; i++)
        sum += input_at(round, first + i) * (uint32_t)(2 * i + 1);
    return sum;
}

static void describe(const struct StagingWork *work,
                     const struct host_round *round,
                     struct host_finding *out, size_t last)
{
    struct host_round before = *round;
    const char *what = "";
    before.round -= round->round > 0;
    if (work->sums[out->index] == POISON)
        what = _(", and nothing was ever written there");
    else if (round->round && work->sums[out->index] ==
                                 checksum(&before, work->n, out->index))
        what = _("; it is that of the round before, whose numbers still "
                 "lie on the device");
    const size_t first = out->index * kStagingBlock,
                 end = first + kStagingBlock;
    snprintf(out->text, sizeof out->text,
             _("the checksum of numbers %zu to %zu (a piece has %zu) is "
               "wrong%s; %zu of %zu checksums are, the last is number %zu"),
             first, (end < work->n ? end : work->n) - 1, work->piece, what,
             out->wrong_count, work->blocks, last);
}

static void judge(const void *opaque, const void *solution,
                  const struct host_round *round, struct host_finding *out)
{
    const struct StagingWork *work = opaque;
    size_t last = 0;
    (void)solution;
    *out = (struct host_finding){.verdict = VERDICT_PASS,
                                 .checked_count = work->blocks};
    for (size_t i = 0; i < work->blocks; i++) {
        const uint32_t want = checksum(round, work->n, i),
                       got = work->sums[i];
        if (got == want)
            continue;
        const double error = fabs((double)got - (double)want);
        out->max_error = error > out->max_error ? error : out->max_error;
        last = i;
        if (out->wrong_count++ > 0)
            continue;
        out->verdict = VERDICT_WRONG;
        out->buffer = "sums";
        out->index = i;
        out->want = (double)want;
        out->got = (double)got;
    }
    if (out->wrong_count)
        describe(work, round, out, last);
}

static void release(void *opaque)
{
    struct StagingWork *work = opaque;
    free((void *)(uintptr_t)work->input);
    work->input = NULL;
}

static double bytes_moved(uint64_t n)
{
    return sizeof(uint32_t) * (double)n;
}

const struct host_lab host_lab_staging = {
    .slug = "staging",
    .open = "stagingOpen",
    .run = "stagingRun",
    .close = "stagingClose",
    .work_bytes = sizeof(struct StagingWork),
    .rounds = 3,
    .prepare = prepare,
    .fill = fill,
    .judge = judge,
    .release = release,
    .bytes_moved = bytes_moved,
};
