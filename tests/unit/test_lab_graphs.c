/* The lab graphs: float steps against the judge's double ones, and whether it tells which of the
 * run's inputs a graph has kept. The student's functions are a few lines of C here. */
#include "harness/host/host_lab.h"
#include "kernels/graphs/lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };

static const struct host_round rounds[] = {{.n = N, .seed = 6}, {.n = N, .seed = 6, .round = 1}};

static struct GraphsWork open_work(const struct host_lab *lab, uint64_t n)
{
    struct GraphsWork work = {0};
    struct host_round first = {.n = n, .seed = 6};
    assert_int_equal(lab->work_bytes, sizeof work);
    assert_true(lab->prepare(&work, &first));
    work.input = malloc(n * sizeof *work.input);
    work.output = malloc(n * sizeof *work.output);
    return work;
}

static void close_work(struct GraphsWork *work)
{
    free(work->input);
    free(work->output);
}

static void run(struct GraphsWork *work, const float *input, float factor)
{
    float *both[2] = {malloc(work->n * sizeof(float)), malloc(work->n * sizeof(float))};
    memcpy(both[0], input, work->n * sizeof(float));
    for (int step = 0; step < kGraphsSteps; step++)
        for (size_t i = 0; i < work->n; i++) {
            const float *from = both[step % 2];
            const float left = from[i ? i - 1 : 0], right = from[i + 1 < work->n ? i + 1 : i];
            both[1 - step % 2][i] = fmaf(factor, left - 2 * from[i] + right, from[i]);
        }
    memcpy(work->output, both[kGraphsSteps % 2], work->n * sizeof(float));
    free(both[0]);
    free(both[1]);
}

static void fill(const struct host_lab *lab, struct GraphsWork *work,
                 const struct host_round *round)
{
    char why[200];
    assert_true(lab->fill(work, round, why, sizeof why));
}

static void takes_float_steps_for_right(void **state)
{
    (void)state;
    const struct host_lab *lab = host_lab_find("graphs");
    assert_non_null(lab);
    static const uint64_t sizes[] = {1, 2, 257, 30011};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned number = 0; number < 8; number++) { /* every factor */
            struct host_round round = {.n = sizes[i], .seed = 1, .round = number};
            struct GraphsWork work = open_work(lab, sizes[i]);
            struct host_finding found;
            fill(lab, &work, &round);
            assert_true(work.factor > 0 && work.factor <= 0.5f);
            run(&work, work.input, work.factor);
            lab->judge(&work, NULL, &round, &found);
            assert_int_equal(found.verdict, VERDICT_PASS);
            assert_true(found.max_error < found.tolerance / 4);
            work.input[0] = 7;
            lab->judge(&work, NULL, &round, &found);
            assert_string_equal(found.buffer, "input");
            close_work(&work);
        }
}

static void tells_which_input_a_graph_has_kept(void **state)
{
    (void)state;
    const struct host_lab *lab = host_lab_find("graphs");
    struct GraphsWork work = open_work(lab, N);
    struct host_finding found;
    float old[N];
    fill(lab, &work, &rounds[0]);
    memcpy(old, work.input, sizeof old);
    const float old_factor = work.factor;
    fill(lab, &work, &rounds[1]);
    assert_true(fabsf(work.factor - old_factor) > 0.1f);

    lab->judge(&work, NULL, &rounds[1], &found);
    assert_int_equal(found.wrong_count, N);
    assert_non_null(strstr(found.text, "nothing was ever written"));
    static const char *const says[2][2] = {
        {NULL, "with the factor of the run before"},
        {"with the input of the run before", "it is the result of the run before"}};
    for (int stale_input = 0; stale_input < 2; stale_input++)
        for (int stale_factor = 0; stale_factor < 2; stale_factor++) {
            run(&work, stale_input ? old : work.input, stale_factor ? old_factor : work.factor);
            lab->judge(&work, NULL, &rounds[1], &found);
            const char *expected = says[stale_input][stale_factor];
            assert_int_equal(found.verdict, expected ? VERDICT_WRONG : VERDICT_PASS);
            if (expected)
                assert_non_null(strstr(found.text, expected));
        }
    close_work(&work);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_float_steps_for_right),
        cmocka_unit_test(tells_which_input_a_graph_has_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
