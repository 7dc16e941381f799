/* The measuring itself, with no GPU in it: rounds of baseline, yours and solution in changing order
 * until the ratio is known well enough or the time is spent, and what the rounds then say.
 *
 * The caller's source runs the samples and owns the clock; a struct measure owns its samples until
 * measure_free.
 *
 * It never turns a time that cannot be (zero, negative, NaN) into a sample, and never says faster
 * or slower where the interval does not. */
#ifndef STRIDE_HARNESS_MEASURE_H
#define STRIDE_HARNESS_MEASURE_H

#include "stats.h"

#include <jansson.h>
#include <stdbool.h>

enum { MEASURE_BASELINE, MEASURE_YOURS, MEASURE_SOLUTION, MEASURE_KINDS };

struct measure_source {
    void *context;
    /* Runs one sample of each kind in this order and fills in milliseconds for one launch. False: a
     * kernel or the machine failed, stop. */
    bool (*round)(void *context, const int order[MEASURE_KINDS], double ms[MEASURE_KINDS]);
    double (*now_ms)(void *context);
};

enum measure_verdict { MEASURE_FASTER, MEASURE_SAME, MEASURE_SLOWER, MEASURE_TOO_NOISY };

struct measure {
    double *ms[MEASURE_KINDS]; /* one sample of each kind for each round */
    unsigned rounds, warm_rounds, rejected;
    bool settled; /* warm-up ended because times stood still, not because it took too long */
    struct interval each[MEASURE_KINDS];
    struct interval speedup;          /* baseline over yours, paired */
    struct interval solution_speedup; /* baseline over solution */
    struct interval of_solution;      /* solution over yours */
};

/* Warms up and measures within the budget. False when the source stopped. */
bool measure_run(struct measure *out, const struct measure_source *source, double budget_ms);

/* The widest interval of a speedup, as part of its median, that says something worth saying. Where
 * the host works along, times vary more, and effects are larger. */
#define MEASURE_NOISY_KERNEL 0.10
#define MEASURE_NOISY_HOST   0.50

/* What the speedup's interval allows to say. `why` is filled (a static sentence) for too noisy. */
enum measure_verdict measure_judge(const struct measure *measure, double noisy, const char **why);
const char *measure_verdict_name(enum measure_verdict verdict); /* as in the record */

/* {median, low, high}, as the record has intervals. */
json_t *measure_interval_json(struct interval interval);

/* Puts the record's times and ratios into `timing`. */
void measure_write_times(const struct measure *measure, json_t *timing);

/* Puts the verdict, the goal (part of the solution's speed) and the reason for too noisy into
 * `timing`. Whether the goal is reached stays open where nothing can be said. */
void measure_write_verdict(const struct measure *measure, enum measure_verdict verdict, double goal,
                           const char *why, json_t *timing);

/* "1.41x over the baseline, 97 % of the solution", or why that can't be said. */
void measure_summarise(const struct measure *measure, enum measure_verdict verdict, const char *why,
                       char *out, size_t len);

void measure_free(struct measure *measure);

#endif
