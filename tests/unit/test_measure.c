/* Measuring with a clock of our own: kernels whose times are made up, on a machine whose troubles
 * are made up too. And the lock that keeps two from measuring at once. */
#include "harness/base/buf.h"
#include "harness/lab.h"
#include "harness/measure.h"
#include "harness/turn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct machine {
    double cost[MEASURE_KINDS]; /* milliseconds of one launch when nothing disturbs */
    double noise;               /* each sample is up to this part slower, independently */
    double drift;               /* each round is this part slower than the one before */
    double ramp;                /* the first launches are this part slower, fading */
    double bad, bad_every;      /* every so many rounds yours shows this time */
    double now;
    unsigned rounds, fail_at;
    unsigned followed[MEASURE_KINDS][MEASURE_KINDS];
};

static double chance(unsigned round, int kind)
{
    return (double)(lab_mix(round, (uint64_t)kind) >> 11) * 0x1p-53;
}

static bool run_round(void *context, const int order[MEASURE_KINDS], double ms[MEASURE_KINDS])
{
    struct machine *machine = context;
    unsigned round = machine->rounds++;
    if (machine->fail_at && machine->rounds >= machine->fail_at)
        return false;
    for (int i = 0; i < MEASURE_KINDS; i++) {
        int kind = order[i];
        double slow = 1 + machine->noise * chance(round, kind) + machine->drift * round +
                      machine->ramp * exp(-(double)round / 10);
        ms[kind] = machine->cost[kind] * slow;
        machine->now += ms[kind];
        if (i)
            machine->followed[order[i - 1]][kind]++;
    }
    if (machine->bad_every > 0 && round % (unsigned)machine->bad_every == 0)
        ms[MEASURE_YOURS] = machine->bad;
    return true;
}

static double clock_of(void *context)
{
    return ((struct machine *)context)->now;
}

static enum measure_verdict judge(struct machine *machine, struct measure *measure,
                                  const char **why)
{
    struct measure_source source = {machine, run_round, clock_of};
    assert_true(measure_run(measure, &source, 600));
    return measure_judge(measure, MEASURE_NOISY_KERNEL, why);
}

static void same_kernels_are_the_same(void **state)
{
    (void)state;
    struct machine machine = {.cost = {1, 1, 1}, .noise = 0.02};
    struct measure measure;
    const char *why;
    assert_int_equal(judge(&machine, &measure, &why), MEASURE_SAME);
    assert_true(measure.speedup.median > 0.99 && measure.speedup.median < 1.01);
    assert_true(measure.speedup.low <= 1 && 1 <= measure.speedup.high);
    assert_string_equal(why, "");
    measure_free(&measure);
}

static void faster_and_slower_are_told(void **state)
{
    (void)state;
    struct machine machine = {.cost = {1.4, 1, 0.9}, .noise = 0.03, .ramp = 0.8};
    struct measure measure;
    const char *why;
    assert_int_equal(judge(&machine, &measure, &why), MEASURE_FASTER);
    assert_true(fabs(measure.speedup.median - 1.4) < 0.02);
    assert_true(measure.speedup.low < 1.4 && 1.4 < measure.speedup.high);
    assert_true(fabs(measure.of_solution.median - 0.9) < 0.02);
    assert_true(fabs(measure.solution_speedup.median - 1.4 / 0.9) < 0.03);
    assert_true(measure.settled);
    measure_free(&measure);
    machine = (struct machine){.cost = {1, 1.2, 0.9}, .noise = 0.03};
    assert_int_equal(judge(&machine, &measure, &why), MEASURE_SLOWER);
    measure_free(&measure);
}

/* A machine that gets slower all the time spoils times, but not ratios. */
static void drift_cancels(void **state)
{
    (void)state;
    struct machine machine = {.cost = {1.3, 1, 1}, .drift = 0.01};
    struct measure measure;
    const char *why;
    assert_int_equal(judge(&machine, &measure, &why), MEASURE_FASTER);
    assert_true(fabs(measure.speedup.median - 1.3) < 1e-9);
    measure_free(&measure);
}

static void wild_times_are_too_noisy(void **state)
{
    (void)state;
    struct machine machine = {.cost = {30, 30, 30}, .noise = 9};
    struct measure measure;
    const char *why;
    assert_int_equal(judge(&machine, &measure, &why), MEASURE_TOO_NOISY);
    assert_true(*why);
    assert_string_equal(measure_verdict_name(MEASURE_TOO_NOISY), "too-noisy");
    measure_free(&measure);
}

/* A host that copies along is noisy, but 2x is 2x; and what may be 1x remains unsaid. */
static void a_wide_interval_says_something_about_a_large_effect(void **state)
{
    (void)state;
    struct measure measure = {.rounds = 18, .speedup = {2.4, 2.2, 2.6}};
    const char *why;
    assert_int_equal(measure_judge(&measure, MEASURE_NOISY_KERNEL, &why), MEASURE_TOO_NOISY);
    assert_int_equal(measure_judge(&measure, MEASURE_NOISY_HOST, &why), MEASURE_FASTER);
    measure.speedup = (struct interval){1.05, 0.95, 1.2};
    assert_int_equal(measure_judge(&measure, MEASURE_NOISY_HOST, &why), MEASURE_TOO_NOISY);
    measure.speedup = (struct interval){2.4, 1.4, 2.7};
    assert_int_equal(measure_judge(&measure, MEASURE_NOISY_HOST, &why), MEASURE_TOO_NOISY);
}

static void impossible_times_are_never_samples(void **state)
{
    (void)state;
    static const double impossible[] = {0, -1, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        struct machine machine = {.cost = {1.2, 1, 1}, .bad = impossible[i], .bad_every = 20};
        struct measure measure;
        const char *why;
        assert_int_equal(judge(&machine, &measure, &why), MEASURE_FASTER);
        assert_true(measure.rejected > 0);
        assert_true(fabs(measure.speedup.median - 1.2) < 1e-9);
        for (unsigned k = 0; k < measure.rounds; k++)
            assert_true(measure.ms[MEASURE_YOURS][k] > 0);
        measure_free(&measure);
        machine = (struct machine){.cost = {1, 1, 1}, .bad = impossible[i], .bad_every = 1};
        assert_int_equal(judge(&machine, &measure, &why), MEASURE_TOO_NOISY);
        assert_int_equal(measure.rounds, 0);
        assert_true(isnan(measure.speedup.median));
        measure_free(&measure);
        machine.bad_every = 4;
        assert_int_equal(judge(&machine, &measure, &why), MEASURE_TOO_NOISY);
        measure_free(&measure);
    }
}

static void budget_is_kept_and_used(void **state)
{
    (void)state;
    struct machine machine = {.cost = {1, 1, 1}};
    struct measure measure;
    const char *why;
    judge(&machine, &measure, &why);
    assert_true(machine.now > 150 && machine.now < 200); /* tight at once: a quarter is enough */
    measure_free(&measure);
    machine = (struct machine){.cost = {1, 1, 1}, .noise = 0.3};
    judge(&machine, &measure, &why);
    assert_true(machine.now < 610);
    measure_free(&measure);
    machine = (struct machine){.cost = {100, 100, 100}};
    assert_int_equal(judge(&machine, &measure, &why),
                     MEASURE_SAME); /* a few rounds more, then done */
    assert_true(machine.now < 2700);
    measure_free(&measure);
    machine = (struct machine){.cost = {5000, 5000, 5000}};
    assert_int_equal(judge(&machine, &measure, &why), MEASURE_TOO_NOISY);
    assert_non_null(strstr(why, "too slow"));
    measure_free(&measure);
}

static void every_kind_follows_every_other(void **state)
{
    (void)state;
    struct machine machine = {.cost = {1, 1, 1}, .noise = 0.3};
    struct measure measure;
    const char *why;
    judge(&machine, &measure, &why);
    unsigned least = UINT32_MAX, most = 0;
    for (int a = 0; a < MEASURE_KINDS; a++)
        for (int b = 0; b < MEASURE_KINDS; b++)
            if (a != b) {
                least = machine.followed[a][b] < least ? machine.followed[a][b] : least;
                most = machine.followed[a][b] > most ? machine.followed[a][b] : most;
            }
    assert_true(least * 10 > most * 9);
    measure_free(&measure);
}

static void a_failing_kernel_stops_it(void **state)
{
    (void)state;
    for (unsigned at = 1; at < 200; at += 40) {
        struct machine machine = {.cost = {1, 1, 1}, .noise = 0.3, .fail_at = at};
        struct measure_source source = {&machine, run_round, clock_of};
        struct measure measure;
        assert_false(measure_run(&measure, &source, 600));
        measure_free(&measure);
    }
}

static void count_waits(void *context)
{
    ++*(int *)context;
}

static void turns_are_taken_one_by_one(void **state)
{
    (void)state;
    char folder[] = "/tmp/stride-turn-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct turn one, two;
    int waits = 0;
    assert_int_equal(turn_take(&one, folder, "GPU-1", 0, count_waits, &waits), TURN_MINE);
    assert_int_equal(waits, 0);
    assert_int_equal(turn_take(&two, folder, "GPU-1", 60, count_waits, &waits), TURN_BUSY);
    assert_int_equal(waits, 1); /* said once, however long it waits */
    assert_int_equal(turn_take(&two, folder, "GPU-2", 0, NULL, NULL), TURN_MINE);
    turn_give(&two);
    turn_give(&one);
    assert_int_equal(turn_take(&two, folder, "GPU-1", 0, NULL, NULL), TURN_MINE);
    turn_give(&two);
    char *path = mem_printf("%s/stride-GPU-1.lock", folder);
    chmod(path, 0444); /* what another user's file is to us: readable, no more */
    assert_int_equal(turn_take(&two, folder, "GPU-1", 0, NULL, NULL), TURN_MINE);
    turn_give(&two);
    unlink(path);
    assert_int_equal(symlink("/etc/hostname", path), 0); /* nobody may point us elsewhere */
    assert_int_equal(turn_take(&two, folder, "GPU-1", 0, NULL, NULL), TURN_UNLOCKED);
    unlink(path);
    assert_int_equal(turn_take(&two, "/nonexistent", "GPU-1", 0, NULL, NULL), TURN_UNLOCKED);
    free(path);
    path = mem_printf("%s/stride-GPU-2.lock", folder);
    unlink(path);
    free(path);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_kernels_are_the_same),
        cmocka_unit_test(faster_and_slower_are_told),
        cmocka_unit_test(drift_cancels),
        cmocka_unit_test(wild_times_are_too_noisy),
        cmocka_unit_test(a_wide_interval_says_something_about_a_large_effect),
        cmocka_unit_test(impossible_times_are_never_samples),
        cmocka_unit_test(budget_is_kept_and_used),
        cmocka_unit_test(every_kind_follows_every_other),
        cmocka_unit_test(a_failing_kernel_stops_it),
        cmocka_unit_test(turns_are_taken_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
