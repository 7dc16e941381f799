/* The lab event-timing for the harness: nothing goes in, two numbers come out.
 *
 * Which time is right, only a measurement can say: the solution's, in the same process. Two honest
 * measurements on a machine that others use may differ by tens of percent, and now and then by far
 * more; so a time is wrong only if it is in every round. The mistakes of this lab are: they are off
 * by a factor of three at the least, at sizes where a launch takes longer than its overhead. */
#include "kernels/event-timing/lab.h"

#include "harness/base/msg.h"
#include "harness/host/host_lab.h"

#include <math.h>
#include <stdio.h>

/* By how much the two times may differ: this part of the solution's, and these milliseconds, which
 * a launch by itself may take longer than one among others. */
#define SHARE    0.5
#define OVERHEAD 0.003

#define ROUNDING                                                           \
    0.01         /* between the bandwidth and what follows from the time */
#define ROUNDS 3 /* of a case */
#define LEAST_MANY                                                         \
    8 /* this many times too long looks like several launches */

static double bytes_per_launch(uint64_t n)
{
    return 3.0 * sizeof(double) * (double)n;
}

static bool prepare(void *opaque, const struct host_round *first)
{
    struct EventTimingWork *work = opaque;
    work->n = (size_t)first->n;
    return first->n > 0;
}

static bool fill(void *opaque, const struct host_round *round, char *why,
                 size_t why_len)
{
    struct EventTimingWork *work = opaque;
    (void)round;
    if (why_len)
        *why = '\0'; /* nothing can fail */
    work->milliseconds = NAN;
    work->gigabytes_per_second = NAN;
    return true;
}

/* Not as 8.16e-05. */
static const char *plain(char *out, size_t size, double ms)
{
    snprintf(out, size, fabs(ms) < 1e-3 ? "%.7f" : "%.4g", ms);
    return out;
}

static void judge_time(double yours, double solution,
                       struct host_finding *out)
{
    const double apart = fabs(yours - solution);
    char mine[40], right[40];
    plain(mine, sizeof mine, yours);
    plain(right, sizeof right, solution);
    out->tolerance = SHARE * solution + OVERHEAD;
    out->max_error = apart;
    if (apart <= out->tolerance)
        return;
    out->verdict = VERDICT_WRONG;
    if (isnan(yours))
        snprintf(out->text, sizeof out->text,
                 _("work->milliseconds was not filled in"));
    else if (fabs(1000 * yours - solution) <= SHARE * solution)
        snprintf(out->text, sizeof out->text,
                 _("%s ms for a launch, and the solution measures %s ms, "
                   "a thousand times more: are these seconds?"),
                 mine, right);
    else if (yours < solution)
        snprintf(out->text, sizeof out->text,
                 _("%s ms for a launch, and the solution measures %s "
                   "ms: your clock was read before the work was done, or "
                   "on another stream than the work's"),
                 mine, right);
    else if (yours > LEAST_MANY * solution)
        snprintf(out->text, sizeof out->text,
                 _("%s ms for a launch, and the solution measures %s "
                   "ms, %.0f times less: is it the time of all launches, "
                   "or of the first, which loads the kernel?"),
                 mine, right, yours / solution);
    else
        snprintf(out->text, sizeof out->text,
                 _("%s ms for a launch, and the solution measures %s "
                   "ms: something else than warm launches is in your time"),
                 mine, right);
}

static void judge_bandwidth(const struct EventTimingWork *work,
                            struct host_finding *out)
{
    const double bytes = bytes_per_launch(work->n);
    const double want = bytes / (work->milliseconds * 1e6),
                 got = work->gigabytes_per_second;
    if (fabs(got - want) <= ROUNDING * want || (isinf(got) && isinf(want)))
        return;
    out->verdict = VERDICT_WRONG;
    if (isnan(got))
        snprintf(out->text, sizeof out->text,
                 _("work->gigabytes_per_second was not filled in"));
    else
        snprintf(out->text, sizeof out->text,
                 _("%.4g GB/s do not go with %.4g ms a launch: that would "
                   "be %.3g bytes for each of the %zu elements, and the "
                   "kernel moves 24"),
                 got, work->milliseconds,
                 got * work->milliseconds * 1e6 / (double)work->n, work->n);
}

static void judge(const void *opaque, const void *other,
                  const struct host_round *round, struct host_finding *out)
{
    static bool was_right; /* in an earlier round of this case */
    const struct EventTimingWork *work = opaque, *solution = other;
    *out =
        (struct host_finding){.verdict = VERDICT_PASS, .checked_count = 2};
    judge_time(work->milliseconds, solution->milliseconds, out);
    was_right =
        (round->round > 0 && was_right) || out->verdict == VERDICT_PASS;
    if (was_right ||
        (round->round + 1 < ROUNDS && !isnan(work->milliseconds)))
        *out = (struct host_finding){.verdict = VERDICT_PASS,
                                     .checked_count = 2};
    if (out->verdict == VERDICT_PASS)
        judge_bandwidth(work, out);
    out->wrong_count = out->verdict != VERDICT_PASS;
}

static double bytes_moved(uint64_t n)
{
    (void)n;
    return 0; /* nothing crosses the bus */
}

const struct host_lab host_lab_event_timing = {
    .slug = "event-timing",
    .open = "eventTimingOpen",
    .run = "eventTimingRun",
    .close = "eventTimingClose",
    .work_bytes = sizeof(struct EventTimingWork),
    .rounds = ROUNDS,
    .prepare = prepare,
    .fill = fill,
    .judge = judge,
    .bytes_moved = bytes_moved,
};
