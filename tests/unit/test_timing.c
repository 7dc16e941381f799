/* Timing from end to end: times, verdicts, and what stops it. */
#define CARD_NUMBER 0x5a
#include "fake_driver.h"

enum { FEW = 12 }; /* launches that there are in any case before the last, checked one */

static void tired(const float *in, float *out)
{
    if (world.launches <= FEW)
        good(in, out);
}

static void speedups_are_written_down(void **state)
{
    (void)state;
    struct timing_result result = time_it(&usual);
    json_t *timing = result.timing;
    assert_int_equal(result.verdict, VERDICT_PASS);
    assert_non_null(timing);
    assert_true(fabs(part(timing, "baseline_ms", "median") - 140) < 0.1);
    assert_true(fabs(part(timing, "speedup", "median") - 1.4) < 0.01);
    assert_true(part(timing, "speedup", "low") <= part(timing, "speedup", "high"));
    assert_true(fabs(part(timing, "solution_speedup", "median") - 140.0 / 90) < 0.01);
    assert_true(fabs(json_number_value(json_object_get(timing, "of_solution")) - 0.9) < 0.01);
    assert_string_equal(text(timing, "verdict"), "faster");
    assert_false(json_is_true(json_object_get(timing, "goal_reached")));
    assert_non_null(json_object_get(timing, "goal_reached"));
    assert_null(json_object_get(timing, "limit"));
    assert_non_null(strstr(result.summary, "1.40x over the baseline, 90 % of the solution"));
    timing_result_free(&result);
}

static void reaching_the_solution_reaches_the_goal(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.yours.ms = 91;
    struct timing_result result = time_it(&setup);
    assert_true(json_is_true(json_object_get(result.timing, "goal_reached")));
    timing_result_free(&result);
    setup.yours.ms = 140;
    result = time_it(&setup);
    assert_string_equal(text(result.timing, "verdict"), "same");
    timing_result_free(&result);
    setup.yours.ms = 200;
    result = time_it(&setup);
    assert_string_equal(text(result.timing, "verdict"), "slower");
    timing_result_free(&result);
}

static void a_kernel_that_stops_working_is_wrong(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.yours.run = tired;
    setup.yours.ms = 1;
    struct timing_result result = time_it(&setup);
    assert_int_equal(result.verdict, VERDICT_WRONG);
    assert_null(result.timing);
    const json_t *mismatch = json_object_get(result.failed_case, "mismatch");
    assert_string_equal(text(mismatch, "got"), "unwritten");
    assert_string_equal(text(result.failed_case, "verdict"), "wrong");
    assert_int_equal(json_integer_value(json_object_get(result.failed_case, "n")), N);
    timing_result_free(&result);
}

/* --- a lab whose whole reference takes too long --- */

static void forbidden(const struct lab_shape *shape, void *const host[], void *const want[])
{
    (void)shape;
    (void)host;
    (void)want;
    fail_msg("the whole reference was computed");
}

static double one_element(const struct lab_shape *shape, void *const host[], int buffer,
                          size_t index)
{
    float in[4096], out[4096]; /* a block, for the element alone */
    struct lab_shape block;
    assert_true(buffer == 1 && index < shape->buffers[1].count && lab()->shape(&block, 4096));
    in[0] = ((const float *)host[0])[index];
    memset(in + 1, 0, sizeof in - sizeof *in);
    lab()->reference(&block, (void *[]){in, NULL}, (void *[]){NULL, out});
    return (double)out[0];
}

/* In the end one element in sixteen is a copy of the input. */
static void partly_wrong(const float *in, float *out)
{
    good(in, out);
    for (size_t i = 3; world.launches > FEW && i < problem_n; i += 16)
        out[i] = in[i];
}

static void one_unwritten(const float *in, float *out)
{
    float kept = out[70001];
    good(in, out);
    if (world.launches > FEW)
        out[70001] = kept;
}

static void one_not_a_number(const float *in, float *out)
{
    good(in, out);
    if (world.launches > FEW)
        out[131000] = NAN;
}

static void a_sample_is_enough_where_all_takes_too_long(void **state)
{
    (void)state;
    struct lab sampled = *lab();
    sampled.reference = forbidden;
    sampled.element = one_element;
    struct setup setup = usual;
    setup.lab = &sampled;
    setup.yours.ms = 1;
    problem_n = 1 << 17;
    struct timing_result result = time_it(&setup);
    assert_int_equal(result.verdict, VERDICT_PASS);
    assert_non_null(result.timing);
    timing_result_free(&result);
    static const struct {
        void (*run)(const float *in, float *out);
        const char *got; /* NULL: a number */
        long index;      /* -1: any of the wrong ones */
    } wrong[] = {{partly_wrong, NULL, -1},
                 {tired, "unwritten", 0},
                 {one_unwritten, "unwritten", 70001},
                 {one_not_a_number, "nan", 131000}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setup.yours.run = wrong[i].run;
        result = time_it(&setup);
        assert_int_equal(result.verdict, VERDICT_WRONG);
        const json_t *mismatch = json_object_get(result.failed_case, "mismatch");
        json_int_t index = json_integer_value(json_object_get(mismatch, "index"));
        json_int_t checked = json_integer_value(json_object_get(mismatch, "checked_count"));
        assert_true(wrong[i].index < 0 ? index % 16 == 3 : index == wrong[i].index);
        assert_true(checked >= 4096 && checked <= 4097);
        if (wrong[i].got)
            assert_string_equal(text(mismatch, "got"), wrong[i].got);
        assert_null(json_object_get(mismatch, "pattern"));
        timing_result_free(&result);
    }
    problem_n = N;
}

/* --- a lab whose launches change what was filled --- */

static bool changing_shape(struct lab_shape *out, uint64_t n)
{
    bool ok = lab()->shape(out, n);
    out->buffers[0] = (struct lab_buffer){"notes", LAB_SCRATCH, LAB_F32, 4};
    out->buffers[1].role = LAB_INOUT;
    return ok;
}

static void changing_fill(const struct lab_shape *shape, int buffer, uint64_t seed, void *host)
{
    for (size_t i = 0; i < shape->buffers[buffer].count; i++)
        ((float *)host)[i] = buffer == 0 ? 0 : (float)(lab_mix(seed, i) >> 50);
}

static void changing_reference(const struct lab_shape *shape, void *const host[],
                               void *const want[])
{
    for (size_t i = 0; i < shape->buffers[1].count; i++)
        ((float *)want[1])[i] = ((const float *)host[1])[i] + 1.5f;
}

static int found_changed; /* launches that did not find their data as filled */

static void changing(const float *in, float *out)
{
    float *notes = (float *)(uintptr_t)in;
    found_changed += notes[0] != 0 || out[0] != floorf(out[0]);
    notes[0] = 1;
    for (size_t i = 0; i < problem_n; i++)
        out[i] += 1.5f; /* no whole number any more */
}

static void every_launch_finds_its_data_as_filled(void **state)
{
    (void)state;
    struct lab place = *lab();
    place.shape = changing_shape;
    place.fill = changing_fill;
    place.reference = changing_reference;
    struct setup setup = {.baseline = {0.14, changing, 0},
                          .yours = {0.1, changing, 0},
                          .solution = {0.09, changing, 0},
                          .lab = &place};
    found_changed = 0;
    struct timing_result result = time_it(&setup);
    assert_int_equal(result.verdict, VERDICT_PASS);
    assert_int_equal(found_changed, 0);
    assert_true(world.launches > FEW);
    assert_true(fabs(part(result.timing, "yours_ms", "median") - 0.1) < 0.001);
    timing_result_free(&result);
    setup.yours.run = good; /* another lab's answers */
    result = time_it(&setup);
    assert_int_equal(result.verdict, VERDICT_WRONG);
    timing_result_free(&result);
}

static void failures_while_timing_are_verdicts(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.yours.result = 700;
    setup.poisoned = true;
    struct timing_result result = time_it(&setup);
    assert_int_equal(result.verdict, VERDICT_FAULT);
    assert_string_equal(text(json_object_get(result.failed_case, "fault"), "kind"),
                        "illegal-address");
    assert_non_null(strstr(result.summary, "N = 4096"));
    timing_result_free(&result);
}

static void printing_kernels_are_not_timed(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.ptx = ".extern .func (.param .b32 func_retval0) vprintf\n";
    struct timing_result result = time_it(&setup);
    assert_null(result.timing);
    assert_int_equal(result.verdict, VERDICT_PASS);
    assert_non_null(strstr(result.skip, "printf"));
    assert_int_equal(world.launches, 0);
    timing_result_free(&result);
}

static void launches_as_long_as_kernels_say_nothing(void **state)
{
    (void)state;
    struct setup setup = {
        .baseline = {2e-6, good, 0}, .yours = {1e-6, good, 0}, .solution = {1e-6, good, 0}};
    struct timing_result result = time_it(&setup);
    assert_string_equal(text(result.timing, "verdict"), "too-noisy");
    assert_non_null(strstr(text(result.timing, "why"), "too short"));
    timing_result_free(&result);
}

static void times_of_zero_are_never_shown(void **state)
{
    (void)state;
    struct setup setup = {
        .baseline = {0, good, 0}, .yours = {0, good, 0}, .solution = {0, good, 0}};
    struct timing_result result = time_it(&setup);
    assert_string_equal(text(result.timing, "verdict"), "too-noisy");
    assert_null(json_object_get(result.timing, "speedup"));
    assert_null(json_object_get(result.timing, "yours_ms"));
    char *shown = json_dumps(result.timing, 0);
    assert_null(strstr(shown, "nan"));
    assert_null(strstr(shown, "inf"));
    free(shown);
    timing_result_free(&result);
}

static void no_memory_is_a_reason(void **state)
{
    (void)state;
    world.most_allocs = 3; /* the events fit, the arena does not */
    struct timing_result result = time_it(&usual);
    world.most_allocs = 0;
    assert_null(result.timing);
    assert_int_equal(result.verdict, VERDICT_PASS);
    assert_non_null(strstr(result.skip, "MiB free"));
    timing_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speedups_are_written_down),
        cmocka_unit_test(reaching_the_solution_reaches_the_goal),
        cmocka_unit_test(a_kernel_that_stops_working_is_wrong),
        cmocka_unit_test(a_sample_is_enough_where_all_takes_too_long),
        cmocka_unit_test(every_launch_finds_its_data_as_filled),
        cmocka_unit_test(failures_while_timing_are_verdicts),
        cmocka_unit_test(printing_kernels_are_not_timed),
        cmocka_unit_test(launches_as_long_as_kernels_say_nothing),
        cmocka_unit_test(times_of_zero_are_never_shown),
        cmocka_unit_test(no_memory_is_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, remove_lock);
}
