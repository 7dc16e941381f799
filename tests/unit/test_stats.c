/* Medians and their intervals against tables and against counting. */
#include "harness/lab.h"
#include "harness/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

static void ranks_are_those_of_the_tables(void **state)
{
    (void)state;
    static const struct {
        size_t count, rank;
    } table[] = {{0, 0},  {1, 0},  {5, 0},  {6, 1},  {8, 1},   {9, 2},   {10, 2},
                 {12, 3}, {15, 4}, {20, 6}, {25, 8}, {30, 10}, {50, 18}, {100, 40}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(stats_rank(table[i].count), table[i].rank);
}

static void medians_of_few_samples(void **state)
{
    (void)state;
    assert_true(isnan(stats_median(NULL, 0).median));
    static const double odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2};
    struct interval interval = stats_median(odd, 3);
    assert_true(interval.median == 5 && interval.low == 1 && interval.high == 9);
    assert_true(stats_median(even, 4).median == 2.5);
    assert_true(odd[0] == 9); /* the samples stay as they were */
}

static void interval_is_the_ranked_samples(void **state)
{
    (void)state;
    double samples[20];
    for (int i = 0; i < 20; i++)
        samples[i] = (i * 7) % 20 + 1;
    struct interval interval = stats_median(samples, 20);
    assert_true(interval.median == 10.5 && interval.low == 6 && interval.high == 15);
    assert_true(fabs(stats_spread(interval) - 9 / 10.5) < 1e-12);
}

/* Of many runs of 25 samples the interval must hold the true median in at least 95 %. */
static void interval_covers_the_median(void **state)
{
    (void)state;
    int covered = 0, runs = 4000;
    for (int run = 0; run < runs; run++) {
        double samples[25];
        for (int i = 0; i < 25; i++) {
            double u = (double)(lab_mix((uint64_t)run, (uint64_t)i) >> 11) * 0x1p-53;
            samples[i] = 1 - log(1 - u); /* long tail; its median is 1 + ln 2 */
        }
        struct interval interval = stats_median(samples, 25);
        covered += interval.low <= 1 + M_LN2 && 1 + M_LN2 <= interval.high;
    }
    assert_in_range(covered, runs * 95 / 100 - 40, runs * 975 / 1000);
}

static void ratio_is_paired(void **state)
{
    (void)state;
    double a[12], b[12];
    for (int i = 0; i < 12; i++) {
        b[i] = 1 + i; /* the machine slows down all the time */
        a[i] = 1.5 * b[i];
    }
    struct interval ratio = stats_ratio(a, b, 12);
    assert_true(ratio.median == 1.5 && ratio.low == 1.5 && ratio.high == 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_those_of_the_tables),
        cmocka_unit_test(medians_of_few_samples),
        cmocka_unit_test(interval_is_the_ranked_samples),
        cmocka_unit_test(interval_covers_the_median),
        cmocka_unit_test(ratio_is_paired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
