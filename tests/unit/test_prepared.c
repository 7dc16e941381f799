/* A check with cases made before gives the same record, byte for byte but for its times, as one
 * that makes everything itself: for right kernels and wrong ones, and whatever is missing. */
#include "harness/check.h"
#include "harness/prepared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fake_backend.h"

enum { SEED = 11, PLENTY = 256 << 20 };

static const uint64_t sizes[] = {4096, 4198400,
                                 12288}; /* the middle one is too large for two seeds */
static const uint64_t small_sizes[] = {4096, 12288};
static const struct image no_image;

/* --- a lab whose first buffer is input and output in one --- */

static bool pair_shape(struct lab_shape *out, uint64_t n)
{
    *out = (struct lab_shape){
        .n = n,
        .grid = {(unsigned)(n / 4096), 1, 1},
        .block = {1, 1, 1},
        .buffers = {{"both", LAB_INOUT, LAB_F32, n}, {"out", LAB_OUT, LAB_F32, n}},
        .buffer_count = 2,
        .args = {{.buffer = 0}, {.buffer = 1}},
        .arg_count = 2,
        .bytes_moved = 16.0 * (double)n};
    return n % 4096 == 0;
}

static void pair_fill(const struct lab_shape *shape, int buffer, uint64_t seed, void *host)
{
    for (size_t i = 0; i < shape->buffers[buffer].count; i++)
        ((float *)host)[i] = (float)(lab_mix(seed, i) >> 44);
}

static void pair_reference(const struct lab_shape *shape, void *const host[], void *const want[])
{
    for (size_t i = 0; i < shape->buffers[0].count; i++) {
        ((float *)want[0])[i] = ((const float *)host[0])[i] + 1;
        ((float *)want[1])[i] = ((const float *)host[0])[i] - 1;
    }
}

static struct lab_tolerance pair_tolerance(const struct lab_shape *shape, int buffer)
{
    (void)shape;
    return (struct lab_tolerance){.absolute = 0.25, .relative = buffer * 1e-6};
}

static const struct lab pair = {.slug = "pair",
                                .shape = pair_shape,
                                .fill = pair_fill,
                                .reference = pair_reference,
                                .tolerance = pair_tolerance};

static void pair_good(const struct call *call)
{
    for (size_t i = 0; i < call->n; i++) {
        call->out[i] = call->in[i] - 1;
        call->in[i] += 1;
    }
}

static void pair_untouched(const struct call *call)
{
    for (size_t i = 0; i < call->n; i++)
        call->out[i] = call->in[i] - 1;
}

/* --- a lab whose first buffer is for the kernel's own use --- */

static bool notes_shape(struct lab_shape *out, uint64_t n)
{
    bool ok = pair_shape(out, n);
    out->buffers[0] = (struct lab_buffer){"notes", LAB_SCRATCH, LAB_F32, 100};
    return ok;
}

static void notes_reference(const struct lab_shape *shape, void *const host[], void *const want[])
{
    assert_null(want[0]); /* there is no right answer */
    for (size_t i = 0; i < shape->buffers[1].count; i++)
        ((float *)want[1])[i] = ((const float *)host[0])[i % 100];
}

static const struct lab notes = {.slug = "notes",
                                 .shape = notes_shape,
                                 .fill = pair_fill,
                                 .reference = notes_reference,
                                 .tolerance = pair_tolerance};

static void notes_good(const struct call *call)
{
    for (size_t i = 0; i < call->n; i++)
        call->out[i] = call->in[i % 100];
    memset(call->in, 0x55, 100 * sizeof *call->in); /* would be wrong if it were not filled again */
}

static void notes_overrun(const struct call *call)
{
    notes_good(call);
    call->in[100] = 1;
}

/* --- kernels of cp-async --- */

static void good(const struct call *call)
{
    struct lab_shape shape;
    const struct lab *lab = lab_find("cp-async");
    assert_true(lab->shape(&shape, call->n));
    lab->reference(&shape, (void *[]){call->in, NULL}, (void *[]){NULL, call->out});
}

static void nothing(const struct call *call)
{
    (void)call;
}

static void one_nan(const struct call *call)
{
    good(call);
    call->out[777] = NAN;
}

static void slightly_off(const struct call *call)
{
    good(call);
    call->out[100] = nextafterf(call->out[100], 9);
}

static void past_the_end(const struct call *call)
{
    good(call);
    call->out[call->n] = 1;
}

static void before_the_input(const struct call *call)
{
    good(call);
    call->in[-3] = 1;
}

static void last_input_changed(const struct call *call)
{
    good(call);
    call->in[call->n - 1] += 1;
}

static void everything(const struct call *call)
{
    call->out[call->n + 9] = 1;
    call->in[5] = 7;
}

static void lost(const struct call *call)
{
    *call->result = (struct launch_result){.verdict = VERDICT_FAULT,
                                           .fault_kind = "illegal-address",
                                           .text = "lost",
                                           .poisoned = true};
}

/* --- running --- */

struct setup {
    const struct lab *lab;
    void (*kernel)(const struct call *call);
    const uint64_t *sizes;
    unsigned size_count;
    uint64_t seed; /* of the check; the prepared cases are SEED's */
};

static void collect(void *context, json_t *entry)
{
    json_t *copy = json_deep_copy(entry);
    json_object_del(copy, "ms");
    json_array_append_new(context, copy);
}

/* Everything a check said, as text. */
static char *run(const struct setup *setup, const struct prepared *prepared)
{
    struct fake fake = {.backend = {&fake_ops}, .kernel = setup->kernel};
    json_t *cases = json_array();
    struct check_request request = {.backend = &fake.backend,
                                    .lab = setup->lab,
                                    .image = &no_image,
                                    .entry = "k",
                                    .sizes = setup->sizes,
                                    .size_count = setup->size_count,
                                    .seed = setup->seed,
                                    .prepared = prepared,
                                    .add = collect,
                                    .context = cases};
    struct check_result result;
    struct err err = {0};
    assert_true(check_run(&result, &request, &err));
    json_t *all =
        json_pack("{s:s, s:s, s:i, s:o}", "verdict", verdict_name(result.verdict), "summary",
                  result.summary, "passed", (int)result.passed, "cases", cases);
    char *text = json_dumps(all, JSON_SORT_KEYS | JSON_INDENT(1));
    json_decref(all);
    while (fake.live) /* of a lost back end */
        free(fake.kept[--fake.live]);
    check_result_free(&result);
    return text;
}

static struct fake host; /* whose memory prepared cases take */

static unsigned prepare(struct prepared *out, const struct setup *setup, size_t most,
                        unsigned steps)
{
    host = (struct fake){.backend = {&fake_ops}};
    prepared_plan(out, &host.backend, setup->lab, setup->sizes, setup->size_count, SEED, most);
    for (unsigned i = 0; i < steps && prepared_step(out); i++)
        ;
    return out->ready;
}

static void expect_same(const struct setup *setup, size_t most, unsigned steps)
{
    struct prepared prepared;
    prepare(&prepared, setup, most, steps);
    char *plain = run(setup, NULL), *with = run(setup, &prepared), *again = run(setup, &prepared);
    assert_string_equal(plain, with);
    assert_string_equal(plain, again); /* and a check changes nothing that was prepared */
    free(plain);
    free(with);
    free(again);
    prepared_free(&prepared);
    assert_null(prepared.back[0]);
}

static void the_record_is_the_same(void **state)
{
    (void)state;
    static void (*const kernels[])(const struct call *) = {good,
                                                           nothing,
                                                           one_nan,
                                                           slightly_off,
                                                           past_the_end,
                                                           before_the_input,
                                                           last_input_changed,
                                                           everything,
                                                           lost};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        expect_same(&(struct setup){lab_find("cp-async"), kernels[i], small_sizes, 2, SEED}, PLENTY,
                    99);
    expect_same(&(struct setup){lab_find("cp-async"), good, sizes, 3, SEED}, PLENTY, 99);
    expect_same(&(struct setup){&pair, pair_good, sizes, 3, SEED}, PLENTY, 99);
    expect_same(&(struct setup){&pair, pair_untouched, small_sizes, 2, SEED}, PLENTY, 99);
    expect_same(&(struct setup){&notes, notes_good, small_sizes, 2, SEED}, PLENTY, 99);
    expect_same(&(struct setup){&notes, notes_overrun, small_sizes, 2, SEED}, PLENTY, 99);
}

static void expect_verdict(const struct setup *setup, const char *verdict, const char *part)
{
    char *text = run(setup, NULL);
    json_t *record = json_loads(text, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(record, "verdict")), verdict);
    assert_non_null(strstr(text, part));
    json_decref(record);
    free(text);
}

static void what_kernels_may_change_is_judged_by_its_role(void **state)
{
    (void)state;
    expect_verdict(&(struct setup){&pair, pair_good, small_sizes, 2, SEED}, "pass", "4 cases");
    expect_verdict(&(struct setup){&pair, pair_untouched, small_sizes, 2, SEED}, "wrong",
                   "unchanged since before the launch");
    expect_verdict(&(struct setup){&notes, notes_good, small_sizes, 2, SEED}, "pass", "4 cases");
    expect_verdict(&(struct setup){&notes, notes_overrun, small_sizes, 2, SEED}, "fault",
                   "past the end of notes, 0 bytes");
}

static void every_case_of_the_check_is_there(void **state)
{
    (void)state;
    struct setup setup = {lab_find("cp-async"), good, sizes, 3, SEED};
    struct prepared prepared;
    assert_int_equal(prepare(&prepared, &setup, PLENTY, 99), 5); /* 2 + 1 + 2 */
    assert_int_equal(prepared.cases[0].n, 4198400);              /* what saves most comes first */
    char *text = run(&setup, &prepared);
    json_t *record = json_loads(text, 0, NULL);
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(record, "cases"), i, entry) {
        struct lab_shape shape;
        setup.lab->shape(&shape, (uint64_t)json_integer_value(json_object_get(entry, "n")));
        uint64_t seed = (uint64_t)json_integer_value(json_object_get(entry, "seed"));
        assert_non_null(prepared_find(&prepared, &shape, seed));
        assert_null(prepared_find(&prepared, &shape, seed + 2));
    }
    assert_int_equal(i, 5);
    json_decref(record);
    free(text);
    prepared_free(&prepared);
}

static void what_is_missing_is_made(void **state)
{
    (void)state;
    struct setup setup = {lab_find("cp-async"), good, sizes, 3, SEED};
    struct prepared prepared = {0};
    expect_same(&setup, PLENTY, 1); /* the job came early */
    expect_same(&setup, PLENTY, 3);
    setup.seed = SEED + 1; /* half of the small cases are there */
    expect_same(&setup, PLENTY, 99);
    setup.seed = 12345;
    expect_same(&setup, PLENTY, 99);
    expect_same(&setup, 0, 99);
    setup.kernel = one_nan;
    expect_same(&setup, PLENTY, 2);
    assert_false(prepared_step(&prepared)); /* nothing was planned */
    prepared_free(&prepared);
}

static void memory_has_a_cap(void **state)
{
    (void)state;
    struct setup setup = {lab_find("cp-async"), good, sizes, 3, SEED};
    struct prepared prepared;
    assert_int_equal(prepare(&prepared, &setup, 0, 99), 0);
    prepared_free(&prepared);
    /* the large case does not fit, the four small ones do */
    assert_int_equal(prepare(&prepared, &setup, 16 << 20, 99), 4);
    assert_int_equal(prepared.cases[0].n, 12288);
    assert_true(prepared.bytes <= 16 << 20);
    size_t sum = 0;
    for (int i = 0; i < LAB_BUFFERS; i++)
        sum += prepared.back_bytes[i];
    assert_true(sum < prepared.bytes);
    prepared_free(&prepared);
    expect_same(&setup, 16 << 20, 99);
}

static int pinned, pinned_most;

static void *few(struct backend *backend, size_t bytes)
{
    (void)backend;
    return pinned < pinned_most ? pinned++, mem_alloc(bytes) : NULL;
}

static void unpin(struct backend *backend, void *memory)
{
    (void)backend;
    pinned--;
    free(memory);
}

static void it_stops_where_memory_ends(void **state)
{
    (void)state;
    struct setup setup = {lab_find("cp-async"), good, small_sizes, 2, SEED};
    struct backend_ops ops = fake_ops;
    ops.host_alloc = few;
    ops.host_free = unpin;
    for (pinned_most = 0; pinned_most < 8; pinned_most++) {
        struct prepared prepared;
        struct fake fake = {.backend = {&ops}};
        prepared_plan(&prepared, &fake.backend, setup.lab, small_sizes, 2, SEED, PLENTY);
        while (prepared_step(&prepared))
            ;
        int cases = pinned_most - 2; /* two buffers come back, each case has one input */
        assert_int_equal(prepared.ready, cases < 0 ? 0 : cases > 4 ? 4 : cases);
        assert_false(prepared_step(&prepared));
        char *plain = run(&setup, NULL), *with = run(&setup, &prepared);
        assert_string_equal(plain, with);
        free(plain);
        free(with);
        prepared_free(&prepared);
        assert_int_equal(pinned, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_is_the_same),
        cmocka_unit_test(what_kernels_may_change_is_judged_by_its_role),
        cmocka_unit_test(every_case_of_the_check_is_there),
        cmocka_unit_test(what_is_missing_is_made),
        cmocka_unit_test(memory_has_a_cap),
        cmocka_unit_test(it_stops_where_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
