/* How to read this file: every operation enters the context first (warming up may happen in another
 * thread), and puts its work into one stream of our own. Waiting is poll() alone: it asks the
 * stream, never the driver to block, so that a kernel without an end costs its deadline and no
 * more. */
#include "emit.h"
#include "gpu.h"
#include "gpu_state.h"

#include "harness/base/clock.h"

#include "base/buf.h"
#include "base/msg.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { /* the driver's numbers for what is asked of it */
       STREAM_NON_BLOCKING = 1,
       LIMIT_PRINTF_BYTES = 1,
       FUNCTION_SET_DYNAMIC_SHARED = 8,
};

enum { PRINTF_BYTES = 1 << 20, PLAIN_SHARED_BYTES = 48 << 10 };

static bool fail(const struct gpu *gpu, int result, struct err *err, const char *what)
{
    return driver_fail(gpu->driver, result, err, what);
}

bool gpu_enter(struct gpu *gpu, struct err *err)
{
    if (gpu->poisoned)
        return err_set(err, "the GPU's context was lost in an earlier launch");
    int result = gpu->driver->context_use(gpu->context);
    return result == DRIVER_OK || fail(gpu, result, err, _("the GPU's context cannot be used"));
}

/* --- modules --- */

/* The toolkit says its release in a comment at the top of the PTX it makes. */
static void toolkit_release(const struct image *image, int *major, int *minor)
{
    const char *at = image->ptx ? strstr(image->ptx, "release ") : NULL;
    if (!at || sscanf(at, "release %d.%d", major, minor) != 2)
        *major = *minor = 0;
}

static bool load_failed(const struct gpu *gpu, int result, const struct image *image,
                        struct err *err)
{
    int major, minor, driver = gpu->info.driver_version;
    toolkit_release(image, &major, &minor);
    bool mismatch = result == DRIVER_UNSUPPORTED_PTX || result == DRIVER_NO_BINARY ||
                    result == 200 || result == DRIVER_INVALID_PTX;
    if (mismatch && major * 1000 + minor * 10 > driver)
        return err_set(err,
                       _("the toolkit is CUDA %d.%d and the driver knows only %d.%d: update the "
                         "driver, or let Stride use an older toolkit (CUDA_HOME)"),
                       major, minor, driver / 1000, driver % 1000 / 10);
    return fail(gpu, result, err, _("the driver does not load the kernel"));
}

static bool load(struct backend *backend, struct backend_module **out, const struct image *image,
                 struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    if (!gpu_enter(gpu, err))
        return false;
    void *module = NULL;
    int result = DRIVER_NO_BINARY, first = DRIVER_OK;
    if (image->cubin)
        first = result = gpu->driver->module_load(&module, image->cubin);
    if (result != DRIVER_OK && image->ptx)
        result = gpu->driver->module_load(&module, image->ptx);
    if (result != DRIVER_OK)
        return load_failed(gpu, first != DRIVER_OK ? first : result, image, err);
    *out = mem_zero(1, sizeof **out);
    (*out)->module = module;
    return true;
}

static void unload(struct backend *backend, struct backend_module *module)
{
    struct gpu *gpu = gpu_of(backend);
    if (gpu_enter(gpu, NULL))
        gpu->driver->module_unload(module->module);
    free(module);
}

/* --- memory --- */

static bool alloc(struct backend *backend, uint64_t *device, size_t bytes, const char *name,
                  struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    if (!gpu_enter(gpu, err))
        return false;
    int result = gpu->driver->memory_alloc(device, bytes);
    if (result == DRIVER_OK)
        return true;
    *device = 0;
    if (result == DRIVER_NO_MEMORY)
        return err_set(err,
                       _("the GPU has no %.0f MiB free for %s; other programs may be using its "
                         "memory"),
                       ceil((double)bytes / 0x1p20), name);
    return fail(gpu, result, err, _("cannot allocate memory on the GPU"));
}

static void release(struct backend *backend, uint64_t device)
{
    struct gpu *gpu = gpu_of(backend);
    if (gpu_enter(gpu, NULL))
        gpu->driver->memory_free(device);
}

static void *host_alloc(struct backend *backend, size_t bytes)
{
    struct gpu *gpu = gpu_of(backend);
    void *host = NULL;
    return gpu_enter(gpu, NULL) && gpu->driver->host_alloc(&host, bytes, 0) == DRIVER_OK ? host
                                                                                         : NULL;
}

static void host_free(struct backend *backend, void *host)
{
    struct gpu *gpu = gpu_of(backend);
    if (gpu_enter(gpu, NULL))
        gpu->driver->host_free(host);
}

static bool upload(struct backend *backend, uint64_t device, const void *host, size_t bytes,
                   struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    if (!gpu_enter(gpu, err))
        return false;
    int result = gpu->driver->copy_up(device, host, bytes, gpu->stream);
    return result == DRIVER_OK || fail(gpu, result, err, _("cannot copy to the GPU"));
}

/* From pageable memory's view the copy is over when the call returns; the wait is for drivers that
 * map host memory and think otherwise. Nothing can be running at this point. */
static bool download(struct backend *backend, void *host, uint64_t device, size_t bytes,
                     struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    if (!gpu_enter(gpu, err))
        return false;
    int result = gpu->driver->copy_down(host, device, bytes, gpu->stream);
    if (result == DRIVER_OK)
        result = gpu->driver->stream_wait(gpu->stream);
    return result == DRIVER_OK || fail(gpu, result, err, _("cannot copy from the GPU"));
}

static bool fill(struct backend *backend, uint64_t device, uint32_t pattern, size_t bytes,
                 bool written, struct err *err)
{
    (void)written;
    struct gpu *gpu = gpu_of(backend);
    if (!gpu_enter(gpu, err))
        return false;
    if (!bytes)
        return true;
    int result = gpu->driver->memory_fill32(device, pattern, bytes / 4, gpu->stream);
    return result == DRIVER_OK || fail(gpu, result, err, _("cannot fill memory on the GPU"));
}

bool gpu_copy(struct backend *backend, uint64_t to, uint64_t from, size_t bytes, struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    if (!gpu_enter(gpu, err))
        return false;
    int result = gpu->driver->copy_across(to, from, bytes, gpu->stream);
    return result == DRIVER_OK || fail(gpu, result, err, _("cannot copy on the GPU"));
}

/* --- launches --- */

static void say(struct launch_result *result, enum verdict verdict, const char *kind,
                const char *text)
{
    result->verdict = verdict;
    snprintf(result->fault_kind, sizeof result->fault_kind, "%s", kind);
    snprintf(result->text, sizeof result->text, "%s", text);
}

/* Sorts what the driver says: what the kernel did goes to result, the rest is an error. */
static bool judge(struct gpu *gpu, int code, struct launch_result *result, struct err *err)
{
    const char *kind;
    if (code == DRIVER_OK)
        return true;
    if (code == DRIVER_OUT_OF_RESOURCES) {
        say(result, VERDICT_FAULT, "resources", driver_meaning(code));
        return true;
    }
    if (driver_is_fault(code, &kind)) {
        gpu->poisoned = result->poisoned = true;
        say(result, VERDICT_FAULT, kind, driver_meaning(code));
        return true;
    }
    return fail(gpu, code, err, _("the launch failed"));
}

bool gpu_wait(struct backend *backend, double deadline_ms, struct launch_result *result,
              struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    double start = clock_ms();
    for (;;) {
        int code = gpu->driver->stream_query(gpu->stream);
        if (code != DRIVER_NOT_READY) {
            if (code ==
                DRIVER_OK) /* cannot block any more; makes the driver print what printf left */
                code = gpu->driver->stream_wait(gpu->stream);
            return judge(gpu, code, result, err);
        }
        double waited = clock_ms() - start;
        if (waited > deadline_ms) {
            char text[128];
            snprintf(text, sizeof text, _("did not end within %.3g s"), deadline_ms / 1e3);
            gpu->poisoned = result->poisoned = true;
            say(result, VERDICT_TIMED_OUT, "", text);
            return true;
        }
        if (waited < 2)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = waited < 50 ? 50000 : 1000000}, NULL);
    }
}

int gpu_function(struct gpu *gpu, struct backend_module *module, const char *entry,
                 unsigned dynamic_shared_bytes, void **function)
{
    const struct driver *driver = gpu->driver;
    int code = driver->module_function(function, module->module, entry);
    if (code == DRIVER_OK && dynamic_shared_bytes > PLAIN_SHARED_BYTES)
        code =
            driver->function_set(*function, FUNCTION_SET_DYNAMIC_SHARED, (int)dynamic_shared_bytes);
    return code;
}

static int enqueue(struct gpu *gpu, struct backend_module *module, const char *entry,
                   const unsigned grid[3], const unsigned block[3], unsigned dynamic_shared_bytes,
                   void **params)
{
    const struct driver *driver = gpu->driver;
    void *function;
    int code = gpu_function(gpu, module, entry, dynamic_shared_bytes, &function);
    if (code == DRIVER_OK)
        code = driver->launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                              dynamic_shared_bytes, gpu->stream, params, NULL);
    return code;
}

static bool launch(struct backend *backend, const struct launch *about,
                   struct launch_result *result, struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    *result = (struct launch_result){.verdict = VERDICT_PASS};
    if (!gpu_enter(gpu, err))
        return false;
    int code = enqueue(gpu, about->module, about->entry, about->grid, about->block,
                       about->dynamic_shared_bytes, about->params);
    if (code == DRIVER_NOT_FOUND) {
        char text[256];
        snprintf(text, sizeof text,
                 _("there is no kernel called %s: keep its name, its parameters and extern \"C\""),
                 about->entry);
        say(result, VERDICT_NO_BUILD, "", text);
        return true;
    }
    if (code != DRIVER_OK)
        return judge(gpu, code, result, err);
    return gpu_wait(backend, about->deadline_ms, result, err);
}

bool gpu_enqueue(struct backend *backend, const struct gpu_launch *about, struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    int code = enqueue(gpu, about->module, about->entry, about->grid, about->block,
                       about->dynamic_shared_bytes, about->params);
    return code == DRIVER_OK || fail(gpu, code, err, _("the launch failed"));
}

void *gpu_stream(const struct backend *backend)
{
    return ((const struct gpu *)backend)->stream;
}

bool gpu_event_open(struct backend *backend, void **event, struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    if (!gpu_enter(gpu, err))
        return false;
    int code = gpu->driver->event_create(event, 0);
    return code == DRIVER_OK || fail(gpu, code, err, _("cannot create an event"));
}

void gpu_event_close(struct backend *backend, void *event)
{
    struct gpu *gpu = gpu_of(backend);
    if (event && gpu_enter(gpu, NULL))
        gpu->driver->event_destroy(event);
}

bool gpu_event_record(struct backend *backend, void *event, struct err *err)
{
    struct gpu *gpu = gpu_of(backend);
    int code = gpu->driver->event_record(event, gpu->stream);
    return code == DRIVER_OK || fail(gpu, code, err, _("cannot record an event"));
}

double gpu_event_elapsed_ms(struct backend *backend, void *from, void *to)
{
    float ms;
    int code = gpu_of(backend)->driver->event_elapsed(&ms, from, to);
    return code == DRIVER_OK ? (double)ms : (double)NAN;
}

static void gpu_close(struct backend *backend)
{
    struct gpu *gpu = gpu_of(backend);
    if (gpu->poisoned) /* every call would wait for the kernel that hangs; the process ends instead
                        */
        return;
    if (gpu->stream && gpu_enter(gpu, NULL))
        gpu->driver->stream_destroy(gpu->stream);
    if (gpu->context)
        gpu->driver->context_release(gpu->device);
    free(gpu);
}

static const struct backend_ops gpu_ops = {
    .name = "gpu",
    .close = gpu_close,
    .load = load,
    .unload = unload,
    .alloc = alloc,
    .release = release,
    .upload = upload,
    .download = download,
    .fill = fill,
    .host_alloc = host_alloc,
    .host_free = host_free,
    .launch = launch,
};

bool gpu_open_with(struct backend **out, const struct driver *driver, int ordinal, struct err *err)
{
    struct gpu *gpu = mem_zero(1, sizeof *gpu);
    *gpu = (struct gpu){.backend = {&gpu_ops}, .driver = driver};
    const char *what = _("the GPU cannot be opened");
    int code = driver->device_get(&gpu->device, ordinal);
    if (code == DRIVER_OK)
        code = driver->context_retain(&gpu->context, gpu->device);
    if (code == DRIVER_OK)
        code = driver->context_use(gpu->context);
    if (code == DRIVER_OK)
        code = driver->stream_create(&gpu->stream, STREAM_NON_BLOCKING);
    if (code != DRIVER_OK) {
        fail(gpu, code, err, what);
        gpu_close(&gpu->backend);
        return false;
    }
    driver->context_limit(LIMIT_PRINTF_BYTES, PRINTF_BYTES);
    card_read(gpu, ordinal);
    *out = &gpu->backend;
    return true;
}

bool gpu_open(struct backend **out, int ordinal, struct err *err)
{
    const struct driver *driver;
    return driver_open(&driver, err) && gpu_open_with(out, driver, ordinal, err);
}

bool gpu_count(int *out, struct err *err)
{
    const struct driver *driver;
    if (!driver_open(&driver, err))
        return false;
    int code = driver->device_count(out);
    return code == DRIVER_OK || driver_fail(driver, code, err, _("cannot count the GPUs"));
}
