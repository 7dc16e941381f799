/* The lab cross-stream: its closed forms against the loops that they replace, and what it says
 * about the usual mistakes. The student's functions are a few lines of C here. */
#include "harness/host/host_lab.h"
#include "kernels/cross-stream/lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { N = 6000 };

static const struct host_round round_zero = {.n = N, .seed = 3};
static const struct host_round round_one = {.n = N, .seed = 3, .round = 1};

struct opened {
    const struct host_lab *lab;
    struct CrossWork work;
};

static struct opened open_lab(const struct host_round *round)
{
    struct opened opened = {.lab = host_lab_find("cross-stream")};
    assert_non_null(opened.lab);
    assert_int_equal(opened.lab->work_bytes, sizeof opened.work);
    assert_true(opened.lab->prepare(&opened.work, round));
    opened.work.input = malloc((size_t)round->n * sizeof(uint32_t));
    opened.work.output = malloc((size_t)round->n * sizeof(uint32_t));
    return opened;
}

static void close_lab(struct opened *opened)
{
    free(opened->work.input);
    free(opened->work.output);
}

static void fill(struct opened *opened, const struct host_round *round)
{
    char why[200];
    assert_true(opened->lab->fill(&opened->work, round, why, sizeof why));
}

/* Kernels A and B, as the lab's kernel.cu writes them. `halo` 0 leaves out the piece before. */
static void run(struct CrossWork *work, bool halo)
{
    uint32_t *made = malloc(work->n * sizeof *made);
    for (size_t i = 0; i < work->n; i++) {
        made[i] = work->input[i];
        for (int step = 0; step < kCrossSteps; step++)
            made[i] = made[i] * kCrossMultiplier + kCrossIncrement;
    }
    for (size_t i = 0; i < work->n; i++) {
        const size_t begin = halo ? 0 : i / work->piece * work->piece;
        work->output[i] = 0;
        for (size_t k = 0; k < kCrossWindow && k <= i - begin; k++)
            work->output[i] += made[i - k];
    }
    free(made);
}

static struct host_finding judge(const struct opened *opened, const struct host_round *round)
{
    struct host_finding found;
    opened->lab->judge(&opened->work, NULL, round, &found);
    return found;
}

static void takes_the_two_loops_for_right(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 31, 32, 257, N};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct host_round round = {.n = sizes[i], .seed = 5, .round = (unsigned)i};
        struct opened opened = open_lab(&round);
        fill(&opened, &round);
        run(&opened.work, true);
        assert_int_equal(judge(&opened, &round).verdict, VERDICT_PASS);
        opened.work.output[sizes[i] - 1]++;
        assert_int_equal(judge(&opened, &round).wrong_count, 1);
        opened.work.output[sizes[i] - 1]--;
        opened.work.input[0]++;
        assert_string_equal(judge(&opened, &round).buffer, "input");
        close_lab(&opened);
    }
}

static void a_piece_holds_a_window_and_the_last_one_may_be_short(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 20000; n += 777) {
        struct host_round round = {.n = n};
        struct opened opened = open_lab(&round);
        assert_true(opened.work.piece >= kCrossWindow);
        assert_true((n + opened.work.piece - 1) / opened.work.piece <= 16);
        close_lab(&opened);
    }
}

static void names_what_is_missing_stale_or_without_its_past(void **state)
{
    (void)state;
    struct opened opened = open_lab(&round_one);
    fill(&opened, &round_one);
    assert_non_null(strstr(judge(&opened, &round_one).text, "nothing was ever written"));
    run(&opened.work, false);
    struct host_finding found = judge(&opened, &round_one);
    assert_int_equal(found.index, opened.work.piece);
    assert_non_null(strstr(found.text, "first 31"));

    fill(&opened, &round_zero);
    run(&opened.work, true);
    uint32_t *before = malloc(N * sizeof *before);
    memcpy(before, opened.work.output, N * sizeof *before);
    fill(&opened, &round_one);
    memcpy(opened.work.output, before, N * sizeof *before);
    assert_non_null(strstr(judge(&opened, &round_one).text, "the round before"));
    free(before);
    close_lab(&opened);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_two_loops_for_right),
        cmocka_unit_test(a_piece_holds_a_window_and_the_last_one_may_be_short),
        cmocka_unit_test(names_what_is_missing_stale_or_without_its_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
