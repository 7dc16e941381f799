/* Timing over a driver of the test's own: device memory is host memory, kernels are C functions,
 * and each launch takes as long as its kernel says on a clock that only launches move.
 *
 * Memory that a lost device keeps is dropped by time_it; a struct timing_result is the test's.
 *
 * A program includes this in one file and defines CARD_NUMBER before, so that each locks a card of
 * its own.
 */
#ifndef STRIDE_TESTS_FAKE_DRIVER_H
#define STRIDE_TESTS_FAKE_DRIVER_H

#ifndef CARD_NUMBER
#define CARD_NUMBER 0x4f
#endif

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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 4096 };

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
    char note[512]; /* the last one of the timing */
    void *kept[64]; /* what the device holds, so that the test can drop what a lost one keeps */
} world;

static struct { /* limits are kept for each card: another one is measured anew */
    unsigned char number;
    int l2_bytes;
} card = {CARD_NUMBER, 1 << 20};

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
    struct peer_places peers;
};

static void take_note(void *context, const char *note)
{
    (void)context;
    snprintf(world.note, sizeof world.note, "%s", note);
}

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
                                     .peers = setup->peers,
                                     .note = take_note,
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

/* What a run of this program locks for its card. */
static int remove_lock(void **state)
{
    (void)state;
    char path[64], *at = path + snprintf(path, sizeof path, "/tmp/stride-GPU-");
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", card.number);
    strcpy(at, ".lock");
    unlink(path);
    return 0;
}

#endif
