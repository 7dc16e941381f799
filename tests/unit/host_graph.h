/* Graphs of the simulated runtime under test, through the functions that a student's object calls:
 * a kernel, three streams and N ints on the device, anew for each test.
 *
 * Each test starts with set_up; what it leaves behind is not freed.
 *
 * Nothing here knows what is right. */
#ifndef STRIDE_TESTS_HOST_GRAPH_H
#define STRIDE_TESTS_HOST_GRAPH_H

#include "harness/host/calls.h"
#include "harness/host/runtime.h"

#include "harness/base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define X(type, name, parameters, arguments) type name parameters;
#include "harness/host/api.def"
#undef X

enum { H2D = 1, D2H = 2, D2D = 3, GLOBAL = 0, THREAD = 1, RELAXED = 2, NON_BLOCKING = 1 };
enum { N = 256, BYTES = N * sizeof(int) };

/* Each call is made "from" the line of the test that it stands in. */
static _Thread_local int line_now;
#define AT(call)    (line_now = __LINE__, (call))
#define OK(call)    assert_int_equal(AT(call), 0)
#define IS(n, call) assert_int_equal(AT(call), n)

static inline int line_of(const void *site)
{
    (void)site;
    return line_now;
}

/* p[i] = p[i] * factor + addend */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry step(.param .u64 p, .param .u32 factor, .param .u32 addend)\n"
    "{\n"
    "    .reg .b32 %r<6>;\n"
    "    .reg .b64 %rd<4>;\n"
    "    ld.param.u64 %rd1, [p];\n"
    "    ld.param.u32 %r1, [factor];\n"
    "    ld.param.u32 %r2, [addend];\n"
    "    mov.u32 %r3, %tid.x;\n"
    "    mul.wide.u32 %rd2, %r3, 4;\n"
    "    add.s64 %rd3, %rd1, %rd2;\n"
    "    ld.global.u32 %r4, [%rd3];\n"
    "    mad.lo.u32 %r4, %r4, %r1, %r2;\n"
    "    st.global.u32 [%rd3], %r4;\n"
    "    ret;\n"
    "}\n";

struct fatbin { /* as fatbinary writes it */
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    uint16_t kind, entry_version;
    uint32_t entry_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes, options;
    uint16_t minor, major;
    uint32_t arch, name, name_bytes;
    uint64_t flags, reserved, whole_bytes;
    char text[sizeof ptx];
};
static struct fatbin fatbin = {.magic = 0xba55ed50u,
                               .version = 1,
                               .header_bytes = 16,
                               .bytes = sizeof(struct fatbin) - 16,
                               .kind = 1,
                               .entry_version = 0x101,
                               .entry_bytes = 64,
                               .payload_bytes = sizeof(struct fatbin) - 16 - 64,
                               .arch = 80};
static struct {
    uint32_t magic, version;
    const void *data, *linked;
} wrapper = {0x466243b1u, 1, &fatbin, NULL};

static struct runtime runtime;
static char step_stub;
static void *s, *s2, *s3; /* streams: two that block, one that doesn't */
static int *device;       /* N ints */

/* A process has one runtime; here each test opens it anew, and the one before is left behind. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

static inline int set_up(void **state)
{
    (void)state;
    memcpy(fatbin.text, ptx, sizeof ptx);
    sim_open_runtime(&runtime, &(struct sim_options){.seed = 1, .threads = 1, .line_of = line_of});
    runtime_use(&runtime);
    calls_reset();
    api_module module = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(module, &step_stub, (char[]){"step"}, "step", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFatBinaryEnd(module);
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&s2));
    OK(cudaStreamCreateWithFlags(&s3, NON_BLOCKING));
    OK(cudaMalloc((void **)&device, BYTES));
    OK(cudaMemset(device, 0, BYTES));
    OK(cudaDeviceSynchronize());
    return 0;
}

/* What was found: "kind line other; ..." */
static inline const char *report(void)
{
    static struct buf text;
    struct sim_report found = {0};
    sim_take_report(&found);
    buf_clear(&text);
    size_t i;
    json_t *one;
    json_array_foreach(found.hazards, i, one)
        buf_printf(&text, "%s %d %d; ", json_string_value(json_object_get(one, "kind")),
                   (int)json_integer_value(json_object_get(one, "line")),
                   (int)json_integer_value(json_object_get(one, "other_line")));
    buf_add_str(&text, found.fault);
    buf_add_str(&text, found.cannot);
    sim_report_free(&found);
    return buf_str(&text);
}

static inline int step(void *stream, int *p, int factor, int addend)
{
    void *args[] = {&p, &factor, &addend};
    return cudaLaunchKernel(&step_stub, (struct dim3){1, 1, 1}, (struct dim3){N, 1, 1}, args, 0,
                            stream);
}

/* The device's ints, each of which should be the same. */
static inline int value(void)
{
    int *all = mem_zero(N, sizeof *all);
    OK(cudaMemcpy(all, device, BYTES, D2H));
    for (int i = 1; i < N; i++)
        assert_int_equal(all[i], all[0]);
    int first = all[0];
    free(all);
    return first;
}

static inline void *instantiate(void *graph)
{
    void *exec = NULL;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

#endif
