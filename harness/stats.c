#include "stats.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median lies between the k-th smallest and the k-th largest sample unless fewer than k fell on
 * one side of it, and how many fall on one side is a binomial count with p = 1/2. So k is the
 * largest with P(fewer than k) <= 2.5 %. */
size_t stats_rank(size_t count)
{
    double n = (double)count, tail = 0;
    size_t rank = 0;
    while (rank < count) {
        double k = (double)rank;
        tail += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * M_LN2);
        if (tail > 0.025)
            break;
        rank++;
    }
    return rank;
}

struct interval stats_median(const double *samples, size_t count)
{
    if (!count)
        return (struct interval){NAN, NAN, NAN};
    double *sorted = mem_alloc(count * sizeof *sorted);
    memcpy(sorted, samples, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    size_t rank = stats_rank(count), half = count / 2;
    struct interval interval = {
        .median = count % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2,
        .low = sorted[rank ? rank - 1 : 0],
        .high = sorted[rank ? count - rank : count - 1],
    };
    free(sorted);
    return interval;
}

struct interval stats_ratio(const double *numerator, const double *denominator, size_t count)
{
    double *ratios = mem_alloc((count + 1) * sizeof *ratios);
    for (size_t i = 0; i < count; i++)
        ratios[i] = numerator[i] / denominator[i];
    struct interval interval = stats_median(ratios, count);
    free(ratios);
    return interval;
}

double stats_spread(struct interval interval)
{
    return (interval.high - interval.low) / interval.median;
}
