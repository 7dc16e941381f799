/* The harness's side of the host labs: what it takes for right, and what it says about the rest.
 * Here the student's functions are a few lines of C. */
#include "harness/host/host_lab.h"
#include "kernels/event-timing/lab.h"
#include "kernels/staging/lab.h"
#include "kernels/streams/lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 10007 };

static struct host_round round_of(unsigned number)
{
    return (struct host_round){.n = N, .seed = 7, .round = number};
}

/* ---- streams */

static const struct host_lab *open_streams(struct StreamsWork *work)
{
    const struct host_lab *lab = host_lab_find("streams");
    struct host_round first = round_of(0);
    assert_non_null(lab);
    *work = (struct StreamsWork){0};
    assert_int_equal(lab->work_bytes, sizeof *work);
    assert_true(lab->prepare(work, &first));
    assert_int_equal(work->n, N);
    work->input = malloc(N * sizeof(uint32_t));
    work->output = malloc(N * sizeof(uint32_t));
    return lab;
}

/* Step by step, which the harness does not do. */
static void advance(struct StreamsWork *work, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        uint32_t x = work->input[i];
        for (int step = 0; step < kStreamsSteps; step++)
            x = x * kStreamsMultiplier + kStreamsIncrement;
        work->output[i] = x;
    }
}

static void close_streams(struct StreamsWork *work)
{
    free(work->input);
    free(work->output);
}

static void streams_takes_every_step_for_right(void **state)
{
    (void)state;
    struct StreamsWork work;
    const struct host_lab *lab = open_streams(&work);
    char why[200];
    struct host_finding found;
    for (unsigned number = 0; number < 2; number++) {
        struct host_round round = round_of(number);
        assert_true(lab->fill(&work, &round, why, sizeof why));
        advance(&work, 0, N);
        lab->judge(&work, &work, &round, &found);
        assert_int_equal(found.verdict, VERDICT_PASS);
        assert_int_equal(found.checked_count, N);
        work.input[5] ^= 1;
        lab->judge(&work, &work, &round, &found);
        assert_int_equal(found.verdict, VERDICT_WRONG);
        assert_string_equal(found.buffer, "input");
    }
    close_streams(&work);
}

static void streams_tells_what_is_missing_from_what_is_stale(void **state)
{
    (void)state;
    struct StreamsWork work;
    const struct host_lab *lab = open_streams(&work);
    struct host_round zero = round_of(0), one = round_of(1);
    char why[200];
    struct host_finding found;

    assert_true(lab->fill(&work, &zero, why, sizeof why));
    advance(&work, 0, N);
    uint32_t *before = malloc(N * sizeof(uint32_t));
    memcpy(before, work.output, N * sizeof(uint32_t));
    assert_true(lab->fill(&work, &one, why, sizeof why));
    advance(&work, 0, N - 7); /* a tail that no chunk covers */
    lab->judge(&work, &work, &one, &found);
    assert_int_equal(found.verdict, VERDICT_WRONG);
    assert_int_equal(found.index, N - 7);
    assert_int_equal(found.wrong_count, 7);
    assert_non_null(strstr(found.text, "7 in a row"));
    assert_non_null(strstr(found.text, "nothing was ever written"));

    work.output[N - 7] = before[N - 7];
    lab->judge(&work, &work, &one, &found);
    assert_non_null(strstr(found.text, "the round before"));
    work.output[N - 7] = work.input[N - 7];
    lab->judge(&work, &work, &one, &found);
    assert_non_null(strstr(found.text, "still the input"));
    free(before);
    close_streams(&work);
}

static void an_open_that_leaves_host_memory_out_is_told_so(void **state)
{
    (void)state;
    struct StreamsWork work;
    const struct host_lab *lab = open_streams(&work);
    struct host_round round = round_of(0);
    char why[200];
    free(work.output);
    work.output = NULL;
    assert_false(lab->fill(&work, &round, why, sizeof why));
    assert_non_null(strstr(why, "work->output"));
    close_streams(&work);
}

/* ---- event-timing */

/* Three rounds in a row; the last one's finding. */
static struct host_finding judge_rounds(const double ms[3], double gb_per_s, double solution_ms)
{
    const struct host_lab *lab = host_lab_find("event-timing");
    struct EventTimingWork yours = {0}, solution = {0};
    struct host_finding found = {.verdict = VERDICT_PASS};
    char why[200];
    assert_non_null(lab);
    assert_int_equal(lab->rounds, 3);
    for (unsigned number = 0; number < 3 && found.verdict == VERDICT_PASS; number++) {
        struct host_round round = {.n = 1000000, .round = number};
        assert_true(lab->prepare(&yours, &round));
        assert_true(lab->fill(&yours, &round, why, sizeof why));
        assert_true(isnan(yours.milliseconds));
        yours.milliseconds = ms[number];
        yours.gigabytes_per_second = gb_per_s < 0 ? 24 / ms[number] : gb_per_s;
        solution.milliseconds = solution_ms;
        lab->judge(&yours, &solution, &round, &found);
    }
    return found;
}

static struct host_finding judge_times(double ms, double gb_per_s, double solution_ms)
{
    return judge_rounds((double[]){ms, ms, ms}, gb_per_s, solution_ms);
}

static void event_timing_forgives_a_round_that_was_disturbed(void **state)
{
    (void)state;
    assert_int_equal(judge_rounds((double[]){1, 9, 1}, -1, 1).verdict, VERDICT_PASS);
    assert_int_equal(judge_rounds((double[]){9, 9, 1}, -1, 1).verdict, VERDICT_PASS);
    assert_int_equal(judge_rounds((double[]){1, 9, 9}, -1, 1).verdict, VERDICT_PASS);
    assert_int_equal(judge_rounds((double[]){9, 9, 9}, -1, 1).verdict, VERDICT_WRONG);
    assert_int_equal(judge_rounds((double[]){9, 9, 9}, -1, 1).verdict, VERDICT_WRONG);
    assert_int_equal(judge_rounds((double[]){NAN, 1, 1}, 24, 1).verdict, VERDICT_WRONG);
}

static void event_timing_allows_for_noise_and_for_no_mistake(void **state)
{
    (void)state;
    static const struct {
        double ms, gb_per_s;
        const char *says; /* NULL: it passes */
    } cases[] = {
        {1.0, 24.0, NULL},
        {1.4, 24.0 / 1.4, NULL},
        {0.6, 40.0, NULL},
        {NAN, 24.0, "milliseconds was not filled in"},
        {1.0, NAN, "gigabytes_per_second was not filled in"},
        {0.003, 8000.0, "before the work was done"},
        {0.0, INFINITY, "before the work was done"},
        {20.0, 1.2, "20 times less"},
        {2.0, 12.0, "something else"},
        {1.0, 16.0, "16 bytes for each"},
        {1.0, 0.024, "do not go with"},
        {INFINITY, 0.0, "times less"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct host_finding found = judge_times(cases[i].ms, cases[i].gb_per_s, 1.0);
        assert_int_equal(found.verdict, cases[i].says ? VERDICT_WRONG : VERDICT_PASS);
        if (cases[i].says)
            assert_non_null(strstr(found.text, cases[i].says));
    }
    /* Where a launch is all overhead, some microseconds more are allowed. */
    assert_int_equal(judge_times(0.005, 4800.0, 0.002).verdict, VERDICT_PASS);
}

/* ---- staging */

static void sum_up(struct StagingWork *work, const uint32_t *data)
{
    for (size_t block = 0; block < work->blocks; block++) {
        uint32_t sum = 0;
        for (size_t i = 0; i < kStagingBlock && block * kStagingBlock + i < work->n; i++)
            sum += data[block * kStagingBlock + i] * (uint32_t)(2 * i + 1);
        work->sums[block] = sum;
    }
}

static void staging_sees_a_piece_that_is_missing_stale_or_moved(void **state)
{
    (void)state;
    const struct host_lab *lab = host_lab_find("staging");
    struct host_round zero = round_of(0), one = round_of(1);
    struct StagingWork work = {0};
    struct host_finding found;
    char why[200];
    assert_non_null(lab);
    assert_true(lab->prepare(&work, &zero));
    assert_int_equal(work.blocks, 3);
    assert_true(work.piece < N / 4 && work.piece * 5 >= N);
    assert_false(lab->fill(&work, &zero, why, sizeof why)); /* no sums yet */
    work.sums = malloc(work.blocks * sizeof(uint32_t));

    uint32_t *device = malloc(N * sizeof(uint32_t)); /* what arrived */
    assert_true(lab->fill(&work, &zero, why, sizeof why));
    lab->judge(&work, &work, &zero, &found);
    assert_non_null(strstr(found.text, "nothing was ever written"));
    memcpy(device, work.input, N * sizeof(uint32_t));
    sum_up(&work, device);
    lab->judge(&work, &work, &zero, &found);
    assert_int_equal(found.verdict, VERDICT_PASS);

    assert_true(lab->fill(&work, &one, why, sizeof why));
    memcpy(device, work.input, 2 * kStagingBlock * sizeof(uint32_t)); /* the rest is stale */
    sum_up(&work, device);
    lab->judge(&work, &work, &one, &found);
    assert_int_equal(found.verdict, VERDICT_WRONG);
    assert_int_equal(found.index, 2);
    assert_non_null(strstr(found.text, "the round before"));

    memcpy(device, work.input, N * sizeof(uint32_t));
    uint32_t kept = device[100];
    device[100] = device[101];
    device[101] = kept;
    sum_up(&work, device);
    lab->judge(&work, &work, &one, &found);
    assert_int_equal(found.wrong_count, 1);
    assert_int_equal(found.index, 0);

    free(device);
    free(work.sums);
    lab->release(&work);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_takes_every_step_for_right),
        cmocka_unit_test(streams_tells_what_is_missing_from_what_is_stale),
        cmocka_unit_test(an_open_that_leaves_host_memory_out_is_told_so),
        cmocka_unit_test(event_timing_forgives_a_round_that_was_disturbed),
        cmocka_unit_test(event_timing_allows_for_noise_and_for_no_mistake),
        cmocka_unit_test(staging_sees_a_piece_that_is_missing_stale_or_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
