/* Timing from end to end over a driver of our own: device memory is host memory, kernels are C
 * functions, and each launch takes as long as its kernel says on a clock that only launches move.
 */
#include "harness/base/buf.h"
#include "harness/driver.h"
#include "harness/gpu.h"
#include "harness/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 4096 };
enum { FEW = 12 }; /* launches that there are in any case before the last, checked one */

struct kernel { /* a module is one of these; an image's cubin points at it */
    double ms;
    void (*run)(const float *in, float *out);
    int result; /* what the stream says after its launch */
};

struct stamp {
    double ms;
};

static struct {
    double clock_ms, copy_ms; /* copy_ms: what one launch of the limit's kernels takes */
    int query, live, modules, launches, most_allocs;
    void *kept[64]; /* what the device holds, so that the test can drop what a lost one keeps */
} world;

static struct { /* limits are kept for each card: another one is measured anew */
    unsigned char number;
    int l2_bytes;
} card = {0x5a, 1 << 20};

static void *keep(void *memory)
{
    assert_true(world.live < 64);
    world.kept[world.live++] = memory;
    return memory;
}

static void drop(void *memory)
{
    for (int i = 0; i < world.live; i++)
        if (world.kept[i] == memory)
            world.kept[i] = world.kept[--world.live];
    free(memory);
}

static const struct lab *lab(void)
{
    return lab_find("cp-async");
}

static uint64_t problem_n = N;

static void good(const float *in, float *out)
{
    struct lab_shape shape;
    assert_true(lab()->shape(&shape, problem_n));
    lab()->reference(&shape, (void *[]){(void *)(uintptr_t)in, NULL}, (void *[]){NULL, out});
}

static void tired(const float *in, float *out)
{
    if (world.launches <= FEW)
        good(in, out);
}

/* --- the driver --- */

static int d_version(int *version)
{
    *version = 13000;
    return 0;
}

static int d_error_name(int result, const char **name)
{
    (void)result;
    *name = "CUDA_ERROR_X";
    return 0;
}

static int d_get(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

static int d_name(char *name, int size, int device)
{
    (void)device;
    strncpy(name, "Test Card", (size_t)size);
    return 0;
}

static int d_uuid(unsigned char uuid[16], int device)
{
    (void)device;
    memset(uuid, card.number, 16);
    return 0;
}

static int d_memory(size_t *bytes, int device)
{
    (void)device;
    *bytes = 1 << 30;
    return 0;
}

static int d_attribute(int *value, int which, int device)
{
    (void)device;
    *value = which == 38 ? card.l2_bytes : which == 16 ? 2 : 0;
    return 0;
}

static int d_retain(void **context, int device)
{
    (void)device;
    *context = &world;
    return 0;
}

static int d_release(int device)
{
    (void)device;
    return 0;
}

static int d_use(void *context)
{
    (void)context;
    return 0;
}

static int d_limit(int limit, size_t value)
{
    (void)limit;
    (void)value;
    return 0;
}

static int d_stream_create(void **stream, unsigned flags)
{
    (void)flags;
    *stream = &world;
    return 0;
}

static int d_query(void *stream)
{
    (void)stream;
    return world.query;
}

static int d_stream(void *stream)
{
    (void)stream;
    return 0;
}

static int d_event_create(void **event, unsigned flags)
{
    (void)flags;
    *event = keep(mem_zero(1, sizeof(struct stamp)));
    return 0;
}

static int d_event_record(void *event, void *stream)
{
    (void)stream;
    ((struct stamp *)event)->ms = world.clock_ms;
    return 0;
}

static int d_event_elapsed(float *ms, void *from, void *to)
{
    *ms = (float)(((struct stamp *)to)->ms - ((struct stamp *)from)->ms);
    return 0;
}

static int d_event_destroy(void *event)
{
    drop(event);
    return 0;
}

static int d_info(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = 64 << 20;
    return 0;
}

static int d_alloc(uint64_t *device, size_t bytes)
{
    if (world.most_allocs && world.live > world.most_allocs)
        return DRIVER_NO_MEMORY;
    *device = (uint64_t)(uintptr_t)keep(mem_alloc(bytes));
    return 0;
}

static int d_free(uint64_t device)
{
    drop((void *)(uintptr_t)device);
    return 0;
}

static int d_fill(uint64_t to, unsigned pattern, size_t words, void *stream)
{
    (void)stream;
    for (size_t i = 0; i < words; i++)
        ((unsigned *)(uintptr_t)to)[i] = pattern;
    return 0;
}

static int d_up(uint64_t to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

static int d_down(void *to, uint64_t from, size_t bytes, void *stream)
{
    (void)stream;
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return 0;
}

static int d_across(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    (void)stream;
    memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return 0;
}

static int d_load(void **module, const void *image)
{
    *module = (void *)(uintptr_t)image;
    world.modules++;
    return 0;
}

static int d_unload(void *module)
{
    (void)module;
    world.modules--;
    return 0;
}

/* A kernel of the limits is told by its name, all others by their module. */
static int d_function(void **function, void *module, const char *name)
{
    static const struct kernel copy = {.ms = -1};
    *function = strncmp(name, "limit", 5) == 0 ? (void *)(uintptr_t)&copy : module;
    return 0;
}

static int d_launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                    unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
    (void)(gx + gy + gz + bx + by + bz + shared);
    (void)stream;
    (void)extra;
    const struct kernel *kernel = function;
    float *in, *out;
    memcpy(&in, params[0], sizeof in);
    memcpy(&out, params[1], sizeof out);
    world.clock_ms += kernel->ms < 0 ? world.copy_ms : kernel->ms;
    world.launches++;
    if (kernel->run)
        kernel->run(in, out);
    if (kernel->result)
        world.query = kernel->result;
    return 0;
}

static const struct driver driver = {
    .driver_version = d_version,
    .error_name = d_error_name,
    .device_get = d_get,
    .device_name = d_name,
    .device_uuid = d_uuid,
    .device_memory = d_memory,
    .device_attribute = d_attribute,
    .context_retain = d_retain,
    .context_release = d_release,
    .context_use = d_use,
    .context_limit = d_limit,
    .stream_create = d_stream_create,
    .stream_query = d_query,
    .stream_wait = d_stream,
    .stream_destroy = d_stream,
    .event_create = d_event_create,
    .event_record = d_event_record,
    .event_elapsed = d_event_elapsed,
    .event_destroy = d_event_destroy,
    .memory_info = d_info,
    .memory_alloc = d_alloc,
    .memory_free = d_free,
    .memory_fill32 = d_fill,
    .copy_up = d_up,
    .copy_down = d_down,
    .copy_across = d_across,
    .module_load = d_load,
    .module_unload = d_unload,
    .module_function = d_function,
    .launch = d_launch,
};

/* --- running one --- */

struct setup {
    struct kernel baseline, yours, solution;
    bool limits;
    const char *ptx;
    bool poisoned;
    const struct lab *lab; /* NULL: cp-async */
    enum lab_limit limit;
};

static struct timing_result time_it(const struct setup *setup)
{
    struct err err = {0};
    struct backend *gpu;
    double copy_ms = world.copy_ms;
    int most = world.most_allocs;
    memset(&world, 0, sizeof world);
    world.copy_ms = copy_ms;
    world.most_allocs = most;
    assert_true(gpu_open_with(&gpu, &driver, 0, &err));
    struct image baseline = {.cubin = &setup->baseline}, solution = {.cubin = &setup->solution};
    struct image yours = {.cubin = &setup->yours, .ptx = setup->ptx ? setup->ptx : ""};
    static const struct kernel none;
    struct image limits = {.cubin = &none};
    struct labfile about = {.entry = (char *)(uintptr_t) "k",
                            .time_size = problem_n,
                            .limit = setup->limit,
                            .goal = 0.95};
    struct timing_request request = {.gpu = gpu,
                                     .lab = setup->lab ? setup->lab : lab(),
                                     .about = &about,
                                     .yours = &yours,
                                     .baseline = &baseline,
                                     .solution = &solution,
                                     .limits = setup->limits ? &limits : NULL,
                                     .seed = 3,
                                     .budget_ms = 40};
    struct timing_result result;
    if (!timing_run(&result, &request, &err))
        fail_msg("%s", err.text);
    assert_int_equal(result.poisoned, setup->poisoned);
    if (!setup->poisoned) {
        assert_int_equal(world.live, 0);
        assert_int_equal(world.modules, 0);
        gpu->ops->close(gpu);
    } else {
        while (world.live)
            drop(world.kept[0]);
        free(gpu);
    }
    return result;
}

static double part(const json_t *timing, const char *key, const char *which)
{
    return json_number_value(json_object_get(json_object_get(timing, key), which));
}

static const char *text(const json_t *timing, const char *key)
{
    const char *value = json_string_value(json_object_get(timing, key));
    return value ? value : "";
}

/* Baseline 140 ms, yours 100 ms and solution 90 ms: large against what launching costs here. */
static const struct setup usual = {
    .baseline = {140, good, 0}, .yours = {100, good, 0}, .solution = {90, good, 0}};

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

/* The limit's copy moves 2 x 8 MiB (a quarter of the free memory in all) in copy_ms. */
static void limits_are_measured_and_not_exceeded(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.limits = true;
    world.copy_ms = 16.0 * 1048576 / (8.0 * N) * 50; /* twice the rate of yours */
    struct timing_result result = time_it(&setup);
    double value = part(result.timing, "limit", "value");
    double achieved = json_number_value(json_object_get(result.timing, "achieved"));
    assert_true(fabs(value / (8.0 * N / 50 / 1e6) - 1) < 0.02);
    assert_true(fabs(achieved / (8.0 * N / 100 / 1e6) - 1) < 0.02);
    assert_true(fabs(json_number_value(json_object_get(result.timing, "of_limit")) - 0.5) < 0.02);
    assert_non_null(strstr(result.summary, "50 % of this card's copy bandwidth"));
    timing_result_free(&result);
    setup.yours.ms = 40; /* the limit is known by now, and this is faster than it */
    result = time_it(&setup);
    assert_string_equal(text(result.timing, "verdict"), "too-noisy");
    assert_non_null(strstr(text(result.timing, "why"), "faster than this card"));
    assert_null(json_object_get(result.timing, "goal_reached"));
    assert_non_null(strstr(result.summary, "speed unknown"));
    timing_result_free(&result);
}

/* Reading runs over the same 16 MiB, twice as fast as yours (8 bytes an element) here. */
static void reading_has_a_limit_of_its_own(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.limits = true;
    setup.limit = LIMIT_READ;
    setup.yours.ms = 50;
    world.copy_ms = 16.0 * 1048576 / (8.0 * N) * 50;
    struct timing_result result = time_it(&setup);
    assert_string_equal(text(json_object_get(result.timing, "limit"), "kind"), "read");
    assert_string_equal(text(json_object_get(result.timing, "limit"), "unit"), "GB/s");
    assert_true(fabs(json_number_value(json_object_get(result.timing, "of_limit")) - 1) < 0.02);
    assert_non_null(strstr(result.summary, "100 % of this card's read bandwidth"));
    assert_string_equal(text(result.timing, "verdict"), "faster");
    timing_result_free(&result);
    setup.yours.ms = 46; /* 8 % above the limit: no honest kernel gets there */
    result = time_it(&setup);
    assert_string_equal(text(result.timing, "verdict"), "too-noisy");
    assert_non_null(strstr(text(result.timing, "why"), "faster than this card"));
    timing_result_free(&result);
}

/* What fits into the cache says nothing about the memory: then the time stands alone. */
static void a_limit_within_the_cache_is_none(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.limits = true;
    setup.limit = LIMIT_READ;
    card.number++;
    card.l2_bytes = 9 << 20;
    struct timing_result result = time_it(&setup);
    card.l2_bytes = 1 << 20;
    assert_non_null(result.timing);
    assert_null(json_object_get(result.timing, "limit"));
    assert_string_equal(text(result.timing, "verdict"), "faster");
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

static int remove_lock(void **state)
{
    (void)state;
    unlink("/tmp/stride-GPU-5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a5a.lock");
    return 0;
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
        cmocka_unit_test(limits_are_measured_and_not_exceeded),
        cmocka_unit_test(reading_has_a_limit_of_its_own),
        cmocka_unit_test(a_limit_within_the_cache_is_none),
        cmocka_unit_test(launches_as_long_as_kernels_say_nothing),
        cmocka_unit_test(times_of_zero_are_never_shown),
        cmocka_unit_test(no_memory_is_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, remove_lock);
}
