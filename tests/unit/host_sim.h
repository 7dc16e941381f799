/* The simulated runtime under test: its kernels (tests/unit/host_sim.ptx) as a student's object
 * would register them, the exported functions, and what the runtime found.
 *
 * One runtime per test program, opened by host_sim_open; each test ends with host_sim_take. AT(7,
 * call) makes a call from "line 7".
 *
 * Nothing here knows what is right. */
#ifndef STRIDE_TESTS_HOST_SIM_H
#define STRIDE_TESTS_HOST_SIM_H

#include "harness/base/file.h"
#include "harness/host/calls.h"
#include "harness/host/runtime.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define X(type, name, parameters, arguments) type name parameters;
#include "harness/host/api.def"
#undef X

enum { TO_DEVICE = 1, TO_HOST = 2, WITHIN = 3, EITHER = 4, NON_BLOCKING = 1, NO_TIMING = 2 };

static int host_sim_mark;
#define AT(line, call) (host_sim_mark = (line), (call))
#define OK(line, call) assert_int_equal(AT(line, call), 0)

/* Stubs: their addresses stand for the kernels and variables. */
static char kernel_add, kernel_move, kernel_count, kernel_store, kernel_bound, kernel_bytes,
    kernel_widen, kernel_spin, variable_total, variable_factor;

static int host_sim_line(const void *site)
{
    return site ? host_sim_mark : 0;
}

static struct {
    struct runtime table;
    struct {
        uint32_t magic, version;
        const void *data, *linked;
    } wrapper;
} host_sim;

static int host_sim_open(void **state)
{
    static const struct {
        const char *stub, *name;
    } kernels[] = {{&kernel_add, "add"},     {&kernel_move, "move"},   {&kernel_count, "count"},
                   {&kernel_store, "store"}, {&kernel_bound, "bound"}, {&kernel_bytes, "bytes"},
                   {&kernel_widen, "widen"}, {&kernel_spin, "spin"}};
    struct buf ptx = {0};
    struct err err = {0};
    (void)state;
    if (!file_read(&ptx, "tests/unit/host_sim.ptx", 1 << 20, &err))
        return -1;
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
        uint16_t kind, entry_version;
        uint32_t entry_header_bytes;
        uint64_t payload;
        uint32_t rest[12];
    } *image = calloc(1, sizeof *image + ptx.len);
    size_t header = offsetof(__typeof__(*image), kind);
    image->magic = 0xba55ed50u;
    image->version = 1;
    image->header_bytes = (uint16_t)header;
    image->bytes = sizeof *image - header + ptx.len;
    image->kind = 1;
    image->entry_header_bytes = (uint32_t)(sizeof *image - header);
    image->payload = ptx.len;
    memcpy(image + 1, ptx.data, ptx.len);
    buf_free(&ptx);
    host_sim.wrapper.magic = 0x466243b1u;
    host_sim.wrapper.data = image;
    sim_open_runtime(&host_sim.table, &(struct sim_options){.line_of = host_sim_line,
                                                            .threads = 1,
                                                            .steps = 1 << 16,
                                                            .source = "k.cu"});
    runtime_use(&host_sim.table);
    void **module = __cudaRegisterFatBinary(&host_sim.wrapper);
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        __cudaRegisterFunction(module, kernels[i].stub, NULL, kernels[i].name, -1, NULL, NULL, NULL,
                               NULL, NULL);
    __cudaRegisterVar(module, &variable_total, NULL, "total", 0, 4, 0, 0);
    __cudaRegisterVar(module, &variable_factor, NULL, "factor", 0, 4, 1, 0);
    __cudaRegisterFatBinaryEnd(module);
    return 0;
}

/* ---- what a student would write */

__attribute__((unused)) static void *stream_new(unsigned flags)
{
    void *stream;
    assert_int_equal(cudaStreamCreateWithFlags(&stream, flags), 0);
    return stream;
}

__attribute__((unused)) static void *event_new(void)
{
    void *event;
    assert_int_equal(cudaEventCreateWithFlags(&event, 0), 0);
    return event;
}

__attribute__((unused)) static void *device_new(size_t bytes)
{
    void *device;
    assert_int_equal(cudaMalloc(&device, bytes), 0);
    return device;
}

__attribute__((unused)) static void *pinned_new(size_t bytes)
{
    void *host;
    assert_int_equal(cudaMallocHost(&host, bytes), 0);
    return host;
}

/* n threads in blocks of 128. */
__attribute__((unused)) static int run_add(void *p, unsigned n, void *stream)
{
    void *args[] = {&p, &n};
    return cudaLaunchKernel(&kernel_add, (struct dim3){(n + 127) / 128, 1, 1},
                            (struct dim3){128, 1, 1}, args, 0, stream);
}

__attribute__((unused)) static int run_move(void *to, const void *from, unsigned n, void *stream)
{
    void *args[] = {&to, &from, &n};
    return cudaLaunchKernel(&kernel_move, (struct dim3){(n + 127) / 128, 1, 1},
                            (struct dim3){128, 1, 1}, args, 0, stream);
}

__attribute__((unused)) static int run_count(void *p, void *stream)
{
    void *args[] = {&p};
    return cudaLaunchKernel(&kernel_count, (struct dim3){1, 1, 1}, (struct dim3){32, 1, 1}, args, 0,
                            stream);
}

__attribute__((unused)) static int run_store(void *p, unsigned i, void *stream)
{
    void *args[] = {&p, &i};
    return cudaLaunchKernel(&kernel_store, (struct dim3){1, 1, 1}, (struct dim3){1, 1, 1}, args, 0,
                            stream);
}

/* ---- what was found */

static struct sim_report host_sim_found;

static void host_sim_take(void)
{
    sim_report_free(&host_sim_found);
    sim_take_report(&host_sim_found);
}

/* How many hazards there are of this kind. */
__attribute__((unused)) static unsigned hazards_of(const char *kind)
{
    unsigned count = 0;
    size_t i;
    json_t *h;
    json_array_foreach(host_sim_found.hazards, i, h)
        count += !strcmp(json_string_value(json_object_get(h, "kind")), kind);
    return count;
}

/* Takes the report and holds its only hazard, if any, against this: other_line -1 for none. */
#define assert_clean()                                                                             \
    do {                                                                                           \
        host_sim_take();                                                                           \
        if (json_array_size(host_sim_found.hazards))                                               \
            print_message("%s\n", json_dumps(host_sim_found.hazards, JSON_INDENT(1)));             \
        assert_int_equal(json_array_size(host_sim_found.hazards), 0);                              \
        assert_string_equal(host_sim_found.cannot, "");                                            \
    } while (0)

#define assert_hazard(kind, at, other)                                                             \
    do {                                                                                           \
        host_sim_take();                                                                           \
        assert_int_equal(json_array_size(host_sim_found.hazards), 1);                              \
        json_t *hazard_ = json_array_get(host_sim_found.hazards, 0);                               \
        assert_string_equal(json_string_value(json_object_get(hazard_, "kind")), kind);            \
        assert_int_equal(json_integer_value(json_object_get(hazard_, "line")), at);                \
        assert_int_equal(json_integer_value(json_object_get(hazard_, "other_line")), other);       \
    } while (0)

__attribute__((unused)) static const char *hazard_text(void)
{
    return json_string_value(json_object_get(json_array_get(host_sim_found.hazards, 0), "text"));
}

/* Ends a test: nothing of it is left for the next. */
__attribute__((unused)) static int host_sim_settle(void **state)
{
    (void)state;
    cudaDeviceSynchronize();
    host_sim_take();
    sim_report_free(&host_sim_found);
    cudaGetLastError();
    return 0;
}

#endif
