/* How to read this file: warm_up() runs rounds that are thrown away until two neighbouring windows
 * of rounds agree; then measure_run() collects rounds until the paired ratios pin the speedup down.
 * Each round holds one sample of every kind, so whatever disturbs the machine disturbs all three.
 */
#include "measure.h"

#include "base/buf.h"
#include "base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WINDOW = 4, FEWEST_ROUNDS = 12, LEAST_ROUNDS = 6, MOST_ROUNDS = 600, CHECK_EVERY = 6 };

static const double TIGHT = 0.004;     /* spread of the ratio at which more rounds add nothing */
static const double SETTLED = 0.02;    /* windows of warm-up that agree this well have settled */
static const double WARM_LEAST = 0.1;  /* of the budget: clocks need some time to rise */
static const double WARM_PART = 0.3;   /* most of the budget that warming up may take */
static const double LEAST_PART = 0.25; /* of the budget is always used, however tight the ratio */
static const double SAME_WITHIN = 0.05;
static const double DIFFERENT = 0.01; /* a difference below this is not called one */
static const double MOST_REJECTED = 0.1;

/* All six orders come round, so that no kind always runs after the same other one. */
static const int orders[6][MEASURE_KINDS] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                             {2, 1, 0}, {1, 0, 2}, {0, 2, 1}};

static bool believable(const double ms[MEASURE_KINDS])
{
    for (int kind = 0; kind < MEASURE_KINDS; kind++)
        if (!(ms[kind] > 0) || !isfinite(ms[kind]))
            return false;
    return true;
}

static bool agree(const double *before, const double *after)
{
    double a = stats_median(before, WINDOW).median, b = stats_median(after, WINDOW).median;
    return fabs(a - b) <= SETTLED * b;
}

static bool warm_up(struct measure *out, const struct measure_source *source, double start_ms,
                    double budget_ms)
{
    double history[2 * WINDOW];
    unsigned kept = 0;
    for (;;) {
        double ms[MEASURE_KINDS], spent = source->now_ms(source->context) - start_ms;
        if (out->warm_rounds && spent >= (out->settled ? WARM_LEAST : WARM_PART) * budget_ms)
            return true;
        if (!source->round(source->context, orders[out->warm_rounds % 6], ms))
            return false;
        out->warm_rounds++;
        if (!believable(ms))
            continue;
        if (kept == 2 * WINDOW) {
            for (unsigned i = 1; i < kept; i++)
                history[i - 1] = history[i];
            kept--;
        }
        history[kept++] = ms[0] + ms[1] + ms[2];
        out->settled = kept == 2 * WINDOW && agree(history, history + WINDOW);
    }
}

static void summarise(struct measure *out)
{
    double **ms = out->ms;
    for (int kind = 0; kind < MEASURE_KINDS; kind++)
        out->each[kind] = stats_median(ms[kind], out->rounds);
    out->speedup = stats_ratio(ms[MEASURE_BASELINE], ms[MEASURE_YOURS], out->rounds);
    out->solution_speedup = stats_ratio(ms[MEASURE_BASELINE], ms[MEASURE_SOLUTION], out->rounds);
    out->of_solution = stats_ratio(ms[MEASURE_SOLUTION], ms[MEASURE_YOURS], out->rounds);
}

static bool is_tight(struct measure *out)
{
    if (out->rounds < FEWEST_ROUNDS || out->rounds % CHECK_EVERY)
        return false;
    summarise(out);
    return stats_spread(out->speedup) < TIGHT && stats_spread(out->of_solution) < TIGHT;
}

bool measure_run(struct measure *out, const struct measure_source *source, double budget_ms)
{
    *out = (struct measure){0};
    for (int kind = 0; kind < MEASURE_KINDS; kind++)
        out->ms[kind] = mem_alloc(MOST_ROUNDS * sizeof **out->ms);
    double start = source->now_ms(source->context);
    if (!warm_up(out, source, start, budget_ms))
        return false;
    for (unsigned turn = 0; out->rounds < MOST_ROUNDS && turn < 2 * MOST_ROUNDS; turn++) {
        double spent = source->now_ms(source->context) - start;
        /* Slow kernels get a few rounds more than the budget, or there would be nothing to say. */
        if (spent > budget_ms && (turn >= LEAST_ROUNDS || spent > 4 * budget_ms))
            break;
        double ms[MEASURE_KINDS];
        if (!source->round(source->context, orders[turn % 6], ms))
            return false;
        if (!believable(ms)) {
            out->rejected++;
            continue;
        }
        for (int kind = 0; kind < MEASURE_KINDS; kind++)
            out->ms[kind][out->rounds] = ms[kind];
        out->rounds++;
        if (spent > LEAST_PART * budget_ms && is_tight(out))
            break;
    }
    summarise(out);
    return true;
}

enum measure_verdict measure_judge(const struct measure *measure, double noisy, const char **why)
{
    struct interval speedup = measure->speedup;
    *why = "";
    if (!measure->rounds && measure->rejected) {
        *why = _("the GPU's clock gave no time that can be right");
    } else if (measure->rejected > MOST_REJECTED * (measure->rounds + measure->rejected)) {
        *why = _("too many of the GPU's times cannot be right");
    } else if (measure->rounds < LEAST_ROUNDS) {
        *why = _("too slow to be timed often enough");
    } else if (stats_spread(speedup) > noisy) {
        *why = _("times vary too much from launch to launch");
    } else if (speedup.low > 1 + DIFFERENT) {
        return MEASURE_FASTER;
    } else if (speedup.high < 1 - DIFFERENT) {
        return MEASURE_SLOWER;
    } else if (speedup.low > 1 - SAME_WITHIN && speedup.high < 1 + SAME_WITHIN) {
        return MEASURE_SAME;
    } else {
        *why = _("the interval holds both faster and slower");
    }
    return MEASURE_TOO_NOISY;
}

const char *measure_verdict_name(enum measure_verdict verdict)
{
    static const char *const names[] = {"faster", "same", "slower", "too-noisy"};
    return names[verdict];
}

json_t *measure_interval_json(struct interval interval)
{
    return json_pack("{s:f, s:f, s:f}", "median", interval.median, "low", interval.low, "high",
                     interval.high);
}

void measure_write_times(const struct measure *measure, json_t *timing)
{
    static const char *const names[] = {"baseline_ms", "yours_ms", "solution_ms"};
    for (int kind = 0; kind < MEASURE_KINDS; kind++)
        json_object_set_new(timing, names[kind], measure_interval_json(measure->each[kind]));
    json_object_set_new(timing, "speedup", measure_interval_json(measure->speedup));
    json_object_set_new(timing, "solution_speedup",
                        measure_interval_json(measure->solution_speedup));
    json_object_set_new(timing, "of_solution", json_real(measure->of_solution.median));
}

void measure_write_verdict(const struct measure *measure, enum measure_verdict verdict, double goal,
                           const char *why, json_t *timing)
{
    json_object_set_new(timing, "verdict", json_string(measure_verdict_name(verdict)));
    json_object_set_new(timing, "goal", json_real(goal));
    if (verdict != MEASURE_TOO_NOISY)
        json_object_set_new(timing, "goal_reached",
                            json_boolean(measure->of_solution.median >= goal));
    if (*why)
        json_object_set_new(timing, "why", json_string(why));
}

void measure_summarise(const struct measure *measure, enum measure_verdict verdict, const char *why,
                       char *out, size_t len)
{
    if (verdict == MEASURE_TOO_NOISY)
        snprintf(out, len, _("speed unknown: %s"), why);
    else
        snprintf(out, len, _("%.2fx over the baseline, %.0f %% of the solution"),
                 measure->speedup.median, 100 * measure->of_solution.median);
}

void measure_free(struct measure *measure)
{
    for (int kind = 0; kind < MEASURE_KINDS; kind++)
        free(measure->ms[kind]);
    *measure = (struct measure){0};
}
