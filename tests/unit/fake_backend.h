/* A back end for tests: device memory is host memory, and a kernel is a C function that gets its
 * first two parameters, both pointers to floats.
 *
 * The test owns the struct fake; `kept` lists what is allocated, so that a test can drop what a
 * lost back end may not release.
 *
 * A program includes it in one file. */
#ifndef STRIDE_TESTS_FAKE_BACKEND_H
#define STRIDE_TESTS_FAKE_BACKEND_H

#include "harness/backend.h"
#include "harness/base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct call { /* what a kernel sees */
    float *in, *out;
    size_t n;
    int before; /* launches of the same module */
    struct launch_result *result;
};

struct fake {
    struct backend backend;
    void (*kernel)(const struct call *call);
    int launches, live, loads, since_load;
    void *kept[16]; /* allocations, so that the test can drop what a lost backend may not release */
    size_t most;    /* bytes; larger allocations fail */
    double deadline_ms; /* of the last launch */
};

static void fake_close(struct backend *backend)
{
    (void)backend;
}

static bool fake_load(struct backend *backend, struct backend_module **out,
                      const struct image *image, struct err *err)
{
    (void)image;
    (void)err;
    ((struct fake *)backend)->loads++;
    ((struct fake *)backend)->since_load = 0;
    *out = (struct backend_module *)(void *)backend;
    return true;
}

static void fake_unload(struct backend *backend, struct backend_module *module)
{
    (void)module;
    ((struct fake *)backend)->loads--;
}

static bool fake_alloc(struct backend *backend, uint64_t *device, size_t bytes, const char *name,
                       struct err *err)
{
    struct fake *fake = (struct fake *)backend;
    if (fake->most && bytes > fake->most)
        return err_set(err, "no memory for %s", name);
    assert_true(fake->live < 16);
    fake->kept[fake->live] = mem_alloc(bytes);
    *device = (uint64_t)(uintptr_t)fake->kept[fake->live++];
    return true;
}

static void fake_release(struct backend *backend, uint64_t device)
{
    struct fake *fake = (struct fake *)backend;
    for (int i = 0; i < fake->live; i++)
        if (fake->kept[i] == (void *)(uintptr_t)device)
            fake->kept[i] = fake->kept[--fake->live];
    free((void *)(uintptr_t)device);
}

static bool fake_upload(struct backend *backend, uint64_t device, const void *host, size_t bytes,
                        struct err *err)
{
    (void)backend;
    (void)err;
    memcpy((void *)(uintptr_t)device, host, bytes);
    return true;
}

static bool fake_download(struct backend *backend, void *host, uint64_t device, size_t bytes,
                          struct err *err)
{
    (void)backend;
    (void)err;
    memcpy(host, (void *)(uintptr_t)device, bytes);
    return true;
}

static bool fake_fill(struct backend *backend, uint64_t device, uint32_t pattern, size_t bytes,
                      bool written, struct err *err)
{
    (void)backend;
    (void)written;
    (void)err;
    assert_int_equal(bytes % 4, 0);
    for (size_t i = 0; i < bytes; i += 4)
        memcpy((char *)(uintptr_t)device + i, &pattern, 4);
    return true;
}

static bool fake_launch(struct backend *backend, const struct launch *launch,
                        struct launch_result *result, struct err *err)
{
    (void)err;
    struct fake *fake = (struct fake *)backend;
    fake->launches++;
    fake->deadline_ms = launch->deadline_ms;
    struct call call = {
        .n = (size_t)launch->grid[0] * 4096, .before = fake->since_load++, .result = result};
    memcpy(&call.in, launch->params[0], sizeof call.in);
    memcpy(&call.out, launch->params[1], sizeof call.out);
    assert_int_equal(launch->param_sizes[1], 8);
    fake->kernel(&call);
    return true;
}

static const struct backend_ops fake_ops = {
    .name = "gpu",
    .close = fake_close,
    .load = fake_load,
    .unload = fake_unload,
    .alloc = fake_alloc,
    .release = fake_release,
    .upload = fake_upload,
    .download = fake_download,
    .fill = fake_fill,
    .launch = fake_launch,
};

#endif
