/* What is said of wrong answers: kernels that are C functions, each wrong in a way of its own, and
 * the sentence and the place that the check has for it. */
#include "check_kernel.h"

#include <math.h>

static void expect_pattern(void (*kernel)(const struct call *), long long index, const char *got,
                           const char *pattern)
{
    struct seen seen;
    run(&seen, kernel);
    const json_t *mismatch = mismatch_of(&seen, 0);
    assert_int_equal(seen.result.verdict, VERDICT_WRONG);
    assert_int_equal(seen.result.passed, 0);
    assert_int_equal(number_of(mismatch, "index"), index);
    if (got)
        assert_string_equal(text_of(mismatch, "got"), got);
    assert_string_equal(text_of(mismatch, "pattern"), pattern);
    assert_non_null(strstr(seen.result.summary, pattern));
    const json_t *max_error = json_object_get(json_array_get(seen.cases, 0), "max_error");
    if (got)
        assert_true(json_is_string(max_error)); /* never 0 or blank when nothing can be said */
    else
        assert_true(json_number_value(max_error) > 0);
    drop(&seen);
}

/* --- kernels --- */

static void nothing(const struct call *call)
{
    (void)call;
}

static void half(const struct call *call)
{
    float *all = mem_alloc(call->n * sizeof *all);
    transform(call->in, all, call->n);
    memcpy(call->out, all, call->n / 2 * sizeof *all);
    free(all);
}

static void no_last_tile(const struct call *call)
{
    float *all = mem_alloc(call->n * sizeof *all);
    transform(call->in, all, call->n);
    for (size_t i = 0; i < call->n; i += 4096)
        memcpy(call->out + i, all + i, 3072 * sizeof *all);
    free(all);
}

static void nan_everywhere(const struct call *call)
{
    for (size_t i = 0; i < call->n; i++)
        call->out[i] = NAN;
}

static void one_nan(const struct call *call)
{
    good(call);
    call->out[777] = NAN;
}

static void infinity(const struct call *call)
{
    for (size_t i = 0; i < call->n; i++)
        call->out[i] = INFINITY;
}

static void zeros(const struct call *call)
{
    memset(call->out, 0, call->n * sizeof *call->out);
}

static void untransformed(const struct call *call)
{
    memcpy(call->out, call->in, call->n * sizeof *call->out);
}

static void twice(const struct call *call)
{
    good(call);
    for (size_t i = 0; i < call->n; i++)
        call->out[i] *= 2;
}

/* The last tile of each block shows the data of the tile before it, as after a missing wait. */
static void stale_last_tile(const struct call *call)
{
    good(call);
    for (size_t i = 0; i < call->n; i += 4096)
        memcpy(call->out + i + 3072, call->out + i + 2048, 1024 * sizeof *call->out);
}

static void off_by_one(const struct call *call)
{
    good(call);
    memmove(call->out, call->out + 1, (call->n - 1) * sizeof *call->out);
}

static void each_32nd(const struct call *call)
{
    good(call);
    for (size_t i = 5; i < call->n; i += 32)
        call->out[i] += 0.25f + (float)i;
}

/* --- tests --- */

static void an_empty_kernel_never_passes(void **state)
{
    (void)state;
    for (int again = 0; again < 5; again++) {
        struct seen seen;
        run(&seen, good);
        drop(&seen);
        expect_pattern(nothing, 0, "unwritten", "output never written");
    }
}

static void patterns_are_told(void **state)
{
    (void)state;
    expect_pattern(half, 2048, "unwritten", "elements 2048 to 4095 without a gap: never written");
    expect_pattern(no_last_tile, 3072, "unwritten",
                   "only the last tile of each block: never written");
    expect_pattern(nan_everywhere, 0, "nan", "every element: NaN");
    expect_pattern(one_nan, 777, "nan", "a single element: NaN");
    expect_pattern(infinity, 0, "inf", "every element: always the same value, inf");
    expect_pattern(zeros, 0, NULL, "every element: always the same value, 0");
    expect_pattern(untransformed, 0, NULL, "every element: there stands input unchanged");
    expect_pattern(twice, 0, NULL, "every element: always 2 times the right value");
    expect_pattern(stale_last_tile, 3072, NULL,
                   "only the last tile of each block: there stand the previous stage's data, the "
                   "tile before");
    expect_pattern(off_by_one, 0, NULL,
                   "elements 0 to 4094 without a gap: there stands what belongs 1 element further "
                   "(off by one)");
    expect_pattern(each_32nd, 5, NULL, "one element in every 32, from 5 to 4069");
}

static void mismatch_names_its_place(void **state)
{
    (void)state;
    struct seen seen;
    run(&seen, stale_last_tile);
    const json_t *mismatch = mismatch_of(&seen, 3);
    assert_int_equal(number_of(mismatch, "wrong_count"), 3 * 1024);
    assert_int_equal(number_of(mismatch, "checked_count"), 12288);
    assert_int_equal(number_of(mismatch, "tile"), 3);
    assert_int_equal(number_of(mismatch, "stage"), 1);
    assert_int_equal(json_array_size(json_object_get(mismatch, "block")), 3);
    assert_string_equal(text_of(mismatch, "buffer"), "output");
    drop(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_kernel_never_passes),
        cmocka_unit_test(patterns_are_told),
        cmocka_unit_test(mismatch_names_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
