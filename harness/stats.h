/* Medians, and how sure one can be of them.
 *
 * Samples are the caller's and are not changed. Nothing is allocated beyond the call.
 *
 * Nothing here assumes a distribution: intervals come from order statistics, since run times have
 * long tails and a mean with a standard deviation would describe a machine that does not exist. */
#ifndef STRIDE_HARNESS_STATS_H
#define STRIDE_HARNESS_STATS_H

#include <stddef.h>

struct interval { /* a median and its 95 % confidence interval */
    double median, low, high;
};

/* The interval of `count` samples. With fewer than six no interval reaches 95 %: low and high are
 * then the smallest and the largest sample. With none, all three are NaN. */
struct interval stats_median(const double *samples, size_t count);

/* The same of numerator[i] / denominator[i]: samples taken side by side, so that what disturbed
 * both cancels. */
struct interval stats_ratio(const double *numerator, const double *denominator, size_t count);

/* Which order statistic bounds the interval from below, from 1; its mirror image bounds it from
 * above. 0 when there are too few samples. */
size_t stats_rank(size_t count);

/* (high - low) / median. */
double stats_spread(struct interval interval);

#endif
