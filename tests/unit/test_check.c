/* check.c against a backend whose kernels are C functions. Each does one thing wrong; what the
 * check says of it is the test. What is said of wrong answers is test_pattern.c's. */
#include "check_kernel.h"

#include <math.h>

static const uint64_t five = 5;

/* --- kernels --- */

static void past_the_end(const struct call *call)
{
    good(call);
    call->out[call->n] = 1;
}

static void far_past_the_end(const struct call *call)
{
    good(call);
    call->out[call->n + (2 << 20) / 4] = 1;
}

static void before_the_start(const struct call *call)
{
    good(call);
    call->out[-1] = 1;
}

static void past_the_input(const struct call *call)
{
    good(call);
    call->in[call->n + 3] = NAN;
}

static void input_cleared(const struct call *call)
{
    memset(call->in, 0, call->n * sizeof *call->in);
    transform(call->in, call->out, call->n);
}

static void right_and_input_touched(const struct call *call)
{
    good(call);
    call->in[call->n - 1] = 0;
}

static void illegal_in_the_second(const struct call *call)
{
    static int calls;
    if (++calls != 2) {
        good(call);
        return;
    }
    call->result->verdict = VERDICT_FAULT;
    call->result->poisoned = true;
    strcpy(call->result->fault_kind, "illegal-address");
    strcpy(call->result->text, "illegal address");
}

static void endless(const struct call *call)
{
    call->result->verdict = VERDICT_TIMED_OUT;
    strcpy(call->result->text, "did not end");
}

static void racing(const struct call *call)
{
    good(call);
    call->result->verdict = VERDICT_HAZARD;
    call->result->hazards = json_pack("[{s:s, s:i, s:i, s:i, s:s}]", "kind", "race", "line", 7,
                                      "other_line", 9, "count", 3, "text", "a race");
    call->result->counters = json_pack("{s:i}", "instructions", 5);
    call->result->timeline = json_pack("{s:i}", "cases", (int)(call->n / 4096));
}

static void racing_and_wrong(const struct call *call)
{
    racing(call);
    call->out[0] = 9;
}

static void undefined_unused(const struct call *call)
{
    racing(call);
    json_object_set_new(json_array_get(call->result->hazards, 0), LAUNCH_HAZARD_IF_USED,
                        json_true());
}

static void undefined_used(const struct call *call)
{
    undefined_unused(call);
    call->out[0] = 9;
}

static void undefined_unused_and_racing(const struct call *call)
{
    undefined_unused(call);
    json_array_append_new(call->result->hazards, json_pack("{s:s, s:i, s:i, s:s}", "kind", "race",
                                                           "line", 8, "count", 1, "text", "real"));
}

static void right_only_once(const struct call *call)
{
    good(call);
    if (call->before)
        call->out[0] = 9;
}

/* --- tests --- */

static void right_answers_pass(void **state)
{
    (void)state;
    struct seen seen;
    run(&seen, good);
    assert_int_equal(seen.result.verdict, VERDICT_PASS);
    assert_int_equal(seen.result.passed, 4); /* two sizes, two seeds */
    assert_int_equal(json_array_size(seen.cases), 4);
    const json_t *entry = json_array_get(seen.cases, 3);
    assert_string_equal(text_of(entry, "verdict"), "pass");
    assert_int_equal(number_of(entry, "n"), 12288);
    assert_int_equal(number_of(entry, "seed"), 12);
    assert_true(json_number_value(json_object_get(entry, "max_error")) == 0);
    assert_true(json_number_value(json_object_get(entry, "tolerance")) > 0);
    assert_null(json_object_get(entry, "mismatch"));
    assert_string_equal(seen.result.summary, "passes all 4 cases");
    drop(&seen);
}

static void expect_fault(void (*kernel)(const struct call *), const char *kind, const char *buffer,
                         const char *side, long long offset)
{
    struct seen seen;
    run(&seen, kernel);
    assert_int_equal(seen.result.verdict, VERDICT_FAULT);
    const json_t *fault = json_object_get(json_array_get(seen.cases, 0), "fault");
    assert_string_equal(text_of(fault, "kind"), kind);
    assert_string_equal(text_of(fault, "buffer"), buffer);
    if (side) {
        assert_string_equal(text_of(fault, "side"), side);
        assert_int_equal(number_of(fault, "offset_bytes"), offset);
    }
    assert_non_null(strstr(seen.result.summary, text_of(fault, "text")));
    drop(&seen);
}

static void overruns_are_named(void **state)
{
    (void)state;
    expect_fault(past_the_end, "guard", "output", "after", 0);
    expect_fault(far_past_the_end, "guard", "output", "after", 2 << 20);
    expect_fault(before_the_start, "guard", "output", "before", 4);
    expect_fault(past_the_input, "guard", "input", "after", 12);
}

static void inputs_must_stay(void **state)
{
    (void)state;
    expect_fault(input_cleared, "input-modified", "input", NULL, 0);
    expect_fault(right_and_input_touched, "input-modified", "input", NULL, 0);
}

static void after_a_lost_context_nothing_runs(void **state)
{
    (void)state;
    struct seen seen;
    run(&seen, illegal_in_the_second);
    assert_int_equal(seen.result.verdict, VERDICT_FAULT);
    assert_true(seen.result.poisoned);
    assert_int_equal(seen.fake.launches, 2);
    assert_int_equal(seen.result.passed, 1);
    assert_int_equal(seen.result.not_run, 1);
    const json_t *entry = json_array_get(seen.cases, 2);
    assert_int_equal(number_of(entry, "n"), 12288);
    assert_non_null(strstr(text_of(entry, "not_run"), "context"));
    assert_null(json_object_get(entry, "verdict"));
    assert_string_equal(text_of(json_object_get(json_array_get(seen.cases, 1), "fault"), "kind"),
                        "illegal-address");
    drop(&seen);
}

static void an_endless_kernel_is_launched_once(void **state)
{
    (void)state;
    struct seen seen;
    run(&seen, endless);
    assert_int_equal(seen.result.verdict, VERDICT_TIMED_OUT);
    assert_int_equal(seen.fake.launches, 1);
    assert_int_equal(json_array_size(seen.cases), 3);
    assert_non_null(strstr(seen.result.summary, "N = 4096: did not end"));
    drop(&seen);
}

/* printf is slow, and its kernels get more time, within what stride waits for a whole check. */
static void a_printing_kernel_gets_more_time(void **state)
{
    (void)state;
    struct seen seen;
    struct err err = {0};
    struct image prints = {.ptx = "\tcall.uni (retval0),\n\tvprintf,\n"};
    struct check_request request = request_of(&seen, good);
    assert_true(check_run(&seen.result, &request, &err));
    assert_true(seen.fake.deadline_ms == CHECK_DEADLINE_MS);
    drop(&seen);
    request = request_of(&seen, good);
    request.image = &prints;
    assert_true(check_run(&seen.result, &request, &err));
    assert_true(seen.fake.deadline_ms == CHECK_PRINTING_DEADLINE_MS);
    drop(&seen);
    request = request_of(&seen, good);
    request.image = &prints;
    request.deadline_ms = 7;
    assert_true(check_run(&seen.result, &request, &err));
    assert_true(seen.fake.deadline_ms == 7);
    drop(&seen);
}

/* A size with more threads than lines can be waited for is left out, and said to be. */
static void a_printing_kernel_leaves_large_sizes_out(void **state)
{
    (void)state;
    static const uint64_t large[] = {4096, 4096 * 1031};
    struct seen seen;
    struct err err = {0};
    struct image prints = {.ptx = "\tcall.uni (retval0),\n\tvprintf,\n"};
    struct check_request request = request_of(&seen, good);
    request.image = &prints;
    request.sizes = large;
    request.size_count = 2;
    assert_true(check_run(&seen.result, &request, &err));
    assert_int_equal(seen.result.verdict, VERDICT_PASS);
    assert_int_equal(seen.result.not_run, 1);
    /* Without a semicolon: the speed is added to it. */
    assert_string_equal(seen.result.summary,
                        "passes 2 cases (1 left out, since the kernel prints)");
    drop(&seen);
    request = request_of(&seen, good);
    request.image = &prints;
    request.sizes = large + 1;
    request.size_count = 1;
    assert_true(check_run(&seen.result, &request, &err));
    assert_int_equal(seen.result.not_run, 0);
    drop(&seen);
}

static void hazards_are_merged_and_beat_right_answers(void **state)
{
    (void)state;
    struct seen seen;
    run(&seen, racing);
    assert_int_equal(seen.result.verdict, VERDICT_HAZARD);
    assert_int_equal(json_array_size(seen.result.hazards), 1);
    const json_t *hazard = json_array_get(seen.result.hazards, 0);
    assert_int_equal(number_of(hazard, "count"), 12);
    assert_int_equal(number_of(hazard, "case_n"), 4096);
    assert_int_equal(number_of(seen.result.counters, "n"), 12288);
    assert_int_equal(number_of(seen.result.timeline, "cases"), 1);
    assert_non_null(strstr(seen.result.summary, "a race"));
    drop(&seen);
    run(&seen, racing_and_wrong);
    assert_int_equal(seen.result.verdict, VERDICT_HAZARD);
    assert_non_null(mismatch_of(&seen, 0));
    drop(&seen);
}

/* An undefined value matters where the results show it. */
static void undefined_values_count_where_they_are_used(void **state)
{
    (void)state;
    struct seen seen;
    run(&seen, undefined_unused);
    assert_int_equal(seen.result.verdict, VERDICT_PASS);
    assert_null(seen.result.hazards);
    assert_null(json_object_get(json_array_get(seen.cases, 0), "text"));
    drop(&seen);
    run(&seen, undefined_used);
    assert_int_equal(seen.result.verdict, VERDICT_HAZARD);
    assert_non_null(strstr(seen.result.summary, "a race"));
    assert_null(json_object_get(json_array_get(seen.result.hazards, 0), LAUNCH_HAZARD_IF_USED));
    drop(&seen);
    run(&seen, undefined_unused_and_racing);
    assert_int_equal(seen.result.verdict, VERDICT_HAZARD);
    assert_int_equal(json_array_size(seen.result.hazards), 1);
    assert_non_null(strstr(seen.result.summary, "real"));
    assert_string_equal(text_of(json_array_get(seen.cases, 0), "text"), "real");
    drop(&seen);
}

static void copying(const struct call *call)
{
    good(call);
    json_t *spans = json_array();
    for (uint64_t i = 4096; i < call->n; i += 4096)
        json_array_append_new(spans, json_pack("{s:s}", "kind", "copy"));
    call->result->timeline = json_pack("{s:I, s:[{s:o}]}", "cases", (json_int_t)(call->n / 4096),
                                       "rows", "spans", spans);
}

static void the_timeline_is_of_the_case_with_copies(void **state)
{
    (void)state;
    struct seen seen;
    run(&seen, copying);
    assert_int_equal(number_of(seen.result.timeline, "cases"), 3);
    drop(&seen);
}

/* A program with variables is launched twice, and told when they are why the second goes wrong. */
static void variables_last_from_launch_to_launch(void **state)
{
    (void)state;
    struct seen seen;
    struct err err = {0};
    const struct image images[] = {
        {.ptx = ".version 9.0\n.global .align 4 .u32 count = 1;\n.entry k(\n"
                "\tatom.global.add.u32 %r1, [count], 1;\n"},
        {.ptx = ".global .align 1 .b8 $str[3] = {102, 0};\n.global .align 4 .u32 kThreads = 256;\n"
                ".entry k(\n\tmov.u64 %rd1, $str;\n"},
    };
    struct check_request request = request_of(&seen, right_only_once);
    request.image = &images[0];
    assert_true(check_run(&seen.result, &request, &err));
    assert_int_equal(seen.result.verdict, VERDICT_WRONG);
    assert_non_null(strstr(seen.result.summary, "__device__ variables keep their values"));
    assert_null(json_object_get(json_array_get(seen.cases, 0), "launch"));
    assert_int_equal(number_of(json_array_get(seen.cases, 1), "launch"), 2);
    assert_int_equal(seen.fake.loads, 0);
    drop(&seen);
    request = request_of(&seen, undefined_used); /* wrong at once, so not for that reason */
    request.image = &images[0];
    assert_true(check_run(&seen.result, &request, &err));
    assert_null(strstr(seen.result.summary, "__device__"));
    drop(&seen);
    request = request_of(&seen, right_only_once);
    request.image = &images[1];
    assert_true(check_run(&seen.result, &request, &err));
    assert_int_equal(seen.result.verdict, VERDICT_PASS);
    drop(&seen);
}

static void sizes_shrink_to_the_memory(void **state)
{
    (void)state;
    struct seen seen;
    struct err err = {0};
    struct check_request request = request_of(&seen, good);
    request.memory_free = ((2 << 20) + 4096) * 4 + 2 * 4 * 8192;
    assert_true(check_run(&seen.result, &request, &err));
    assert_int_equal(seen.result.verdict, VERDICT_PASS);
    assert_int_equal(number_of(json_array_get(seen.cases, 2), "n"), 4096);
    drop(&seen);
    request = request_of(&seen, good);
    request.memory_free = 1000;
    assert_true(check_run(&seen.result, &request, &err));
    assert_int_equal(seen.result.verdict, VERDICT_CANNOT_RUN);
    assert_int_equal(seen.fake.launches, 0);
    drop(&seen);
    request = request_of(&seen, good);
    seen.fake.most = 1000;
    assert_true(check_run(&seen.result, &request, &err));
    assert_int_equal(seen.result.verdict, VERDICT_CANNOT_RUN);
    assert_non_null(strstr(seen.result.summary, "no memory for input"));
    assert_int_equal(seen.fake.live, 0);
    drop(&seen);
    request = request_of(&seen, good);
    request.sizes = &five;
    request.size_count = 1;
    assert_false(check_run(&seen.result, &request, &err));
    assert_non_null(strstr(err.text, "lab.yaml"));
    drop(&seen);
}

static void nothing_is_added_around_exact_bounds(void **state)
{
    (void)state;
    struct backend_ops exact = fake_ops;
    exact.exact_bounds = true;
    struct seen seen;
    struct err err = {0};
    struct check_request request = request_of(&seen, good);
    seen.fake.backend.ops = &exact;
    seen.fake.most = 12288 * 4;
    assert_true(check_run(&seen.result, &request, &err));
    assert_int_equal(seen.result.verdict, VERDICT_PASS);
    drop(&seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_answers_pass),
        cmocka_unit_test(overruns_are_named),
        cmocka_unit_test(inputs_must_stay),
        cmocka_unit_test(after_a_lost_context_nothing_runs),
        cmocka_unit_test(an_endless_kernel_is_launched_once),
        cmocka_unit_test(a_printing_kernel_gets_more_time),
        cmocka_unit_test(a_printing_kernel_leaves_large_sizes_out),
        cmocka_unit_test(hazards_are_merged_and_beat_right_answers),
        cmocka_unit_test(undefined_values_count_where_they_are_used),
        cmocka_unit_test(the_timeline_is_of_the_case_with_copies),
        cmocka_unit_test(variables_last_from_launch_to_launch),
        cmocka_unit_test(sizes_shrink_to_the_memory),
        cmocka_unit_test(nothing_is_added_around_exact_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
