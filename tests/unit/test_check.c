/* check.c against a backend whose kernels are C functions. Each does one thing wrong; what the
 * check says of it is the test. The labs are the real cp-async and a small one with odd sizes. */
#include "harness/base/buf.h"
#include "harness/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_backend.h"

/* --- running one --- */

static const uint64_t sizes[] = {4096, 12288};
static const uint64_t five = 5;
static const struct image no_image;

struct seen {
    struct check_result result;
    json_t *cases;
    struct fake fake;
};

static void collect(void *context, json_t *entry)
{
    json_array_append(context, entry);
}

static struct check_request request_of(struct seen *seen, void (*kernel)(const struct call *))
{
    seen->fake = (struct fake){.backend = {&fake_ops}, .kernel = kernel};
    seen->cases = json_array();
    return (struct check_request){
        .backend = &seen->fake.backend,
        .lab = lab_find("cp-async"),
        .image = &no_image,
        .entry = "k",
        .sizes = sizes,
        .size_count = 2,
        .seed = 11,
        .add = collect,
        .context = seen->cases,
    };
}

static void run(struct seen *seen, void (*kernel)(const struct call *))
{
    struct check_request request = request_of(seen, kernel);
    struct err err = {0};
    if (!check_run(&seen->result, &request, &err))
        fail_msg("%s", err.text);
    if (!seen->result.poisoned) {
        assert_int_equal(seen->fake.live, 0);
        assert_int_equal(seen->fake.loads, 0);
    }
}

static void drop(struct seen *seen)
{
    while (seen->fake.live)
        free(seen->fake.kept[--seen->fake.live]);
    json_decref(seen->cases);
    check_result_free(&seen->result);
}

static json_t *mismatch_of(const struct seen *seen, size_t i)
{
    return json_object_get(json_array_get(seen->cases, i), "mismatch");
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static long long number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

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

static void transform(const float *in, float *out, size_t n)
{
    struct lab_shape shape;
    const struct lab *lab = lab_find("cp-async");
    assert_true(lab->shape(&shape, n));
    lab->reference(&shape, (void *[]){(void *)(uintptr_t)in, NULL}, (void *[]){NULL, out});
}

static void good(const struct call *call)
{
    transform(call->in, call->out, call->n);
}

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
    assert_non_null(strstr(seen.result.summary, "1 were left out, since the kernel prints"));
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

/* --- check_compare alone, over types --- */

static const struct lab_tolerance *asked;

static struct lab_tolerance asked_tolerance(const struct lab_shape *shape, int buffer)
{
    (void)shape;
    (void)buffer;
    return *asked;
}

static size_t count_wrong(enum lab_type type, const void *got, const void *want, size_t count,
                          uint32_t poison, struct check_outcome *outcome)
{
    static const struct lab_tolerance loose = {.absolute = 0.01, .relative = 0.01};
    asked = &loose;
    struct lab lab = {.slug = "t", .tolerance = asked_tolerance};
    struct lab_shape shape = {.buffers = {{"out", LAB_OUT, type, count}}, .buffer_count = 1};
    struct check_buffer buffer = {
        .lab = &lab, .shape = &shape, .got = got, .want = want, .poison = poison};
    check_compare(outcome, &buffer);
    if (outcome->wrong) {
        json_t *mismatch = check_mismatch(&buffer, outcome);
        assert_non_null(mismatch);
        json_decref(mismatch);
    }
    return outcome->wrong;
}

static void not_a_number_always_loses(void **state)
{
    (void)state;
    struct check_outcome outcome;
    float want[] = {1, INFINITY, INFINITY, 1, NAN, 100},
          got[] = {NAN, -INFINITY, 5, INFINITY, NAN, 100.5f};
    assert_int_equal(count_wrong(LAB_F32, got, want, 6, 0, &outcome), 5);
    assert_true(isnan(outcome.max_error));
    assert_int_equal(count_wrong(LAB_F32, want, want, 6, 0, &outcome),
                     1); /* a NaN that is wanted */
    assert_int_equal(outcome.first, 4);
    float wide[] = {1, 2}, off[] = {1, 3};
    assert_int_equal(count_wrong(LAB_F32, off, wide, 2, 0, &outcome), 1);
    assert_true(outcome.max_error == 1);
}

static void every_type_compares_and_shows_its_poison(void **state)
{
    (void)state;
    static const enum lab_type types[] = {LAB_F32, LAB_F64, LAB_F16, LAB_BF16,
                                          LAB_I32, LAB_U32, LAB_U64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        uint64_t want[4] = {0}, got[4];
        uint32_t poison = check_poison(types[t], 3);
        struct check_outcome outcome;
        assert_true(check_poison(types[t], 4) != poison);
        for (int i = 0; i < 4; i++)
            got[i] = (uint64_t)poison << 32 | poison;
        size_t count = sizeof got / lab_type_bytes(types[t]);
        assert_int_equal(count_wrong(types[t], got, want, count, poison, &outcome), count);
        assert_int_equal(outcome.unwritten, count);
        assert_true(isnan(outcome.max_error));
        assert_int_equal(count_wrong(types[t], want, want, count, poison, &outcome), 0);
        if (types[t] == LAB_F32 || types[t] == LAB_F64 || types[t] == LAB_F16 ||
            types[t] == LAB_BF16) /* arithmetic on poison stays poison */
            assert_int_equal(count_wrong(types[t], got, got, count, ~poison, &outcome), count);
    }
    uint32_t big[] = {0x80000000u, 7}, near[] = {0x80000001u, 7};
    struct check_outcome outcome;
    assert_int_equal(count_wrong(LAB_U32, near, big, 2, 0, &outcome), 1); /* no tolerance */
    uint16_t one[] = {0x3c00, 0x0001}, less[] = {0x3bff, 0x8001};
    assert_int_equal(count_wrong(LAB_F16, less, one, 2, 0, &outcome), 0);
    assert_true(fabs(outcome.max_error - 0x1p-11) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_answers_pass),
        cmocka_unit_test(an_empty_kernel_never_passes),
        cmocka_unit_test(patterns_are_told),
        cmocka_unit_test(mismatch_names_its_place),
        cmocka_unit_test(overruns_are_named),
        cmocka_unit_test(inputs_must_stay),
        cmocka_unit_test(after_a_lost_context_nothing_runs),
        cmocka_unit_test(an_endless_kernel_is_launched_once),
        cmocka_unit_test(a_printing_kernel_gets_more_time),
        cmocka_unit_test(a_printing_kernel_leaves_large_sizes_out),
        cmocka_unit_test(hazards_are_merged_and_beat_right_answers),
        cmocka_unit_test(sizes_shrink_to_the_memory),
        cmocka_unit_test(nothing_is_added_around_exact_bounds),
        cmocka_unit_test(not_a_number_always_loses),
        cmocka_unit_test(every_type_compares_and_shows_its_poison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
