#include "host_warm.h"

#include "gpu.h"
#include "work.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <stdlib.h>
#include <string.h>

#define START_MS 30000.0 /* a driver that wakes up may take its time */

/* Describes the GPU and lets go of it. */
static void look_for_gpu(struct host_warm *warm)
{
    struct backend *gpu;
    struct gpu_info info;
    warm->ordinal = gpu_wanted_ordinal();
    if (!gpu_open(&gpu, warm->ordinal, &warm->no_gpu))
        return;
    gpu_describe(gpu, &info);
    warm->device = gpu_device_json(gpu);
    warm->capability = (unsigned)(info.major * 10 + info.minor);
    memcpy(warm->uuid, info.uuid, sizeof warm->uuid);
    gpu->ops->close(gpu);
}

static bool build_own(struct host_warm *warm, struct host_build *out, const char *file,
                      struct err *err)
{
    char *path = mem_printf("%s/kernels/%s/%s", warm->root, warm->about->slug, file);
    bool ran = host_build_make(&warm->builder, out, path, NULL, file, &warm->no_builder);
    bool ok = true;
    if (ran && out->build.diagnostics.setup)
        err_set(&warm->no_builder, "%s", out->build.diagnostics.setup);
    else if (ran && !out->build.ok)
        ok = err_set(err, _("%s does not compile: line %u: %s"), path,
                     out->build.diagnostics.count ? out->build.diagnostics.items[0].line : 0,
                     out->build.diagnostics.count ? out->build.diagnostics.items[0].text
                                                  : "no reason given");
    warm->can_build = ran && out->build.ok;
    free(path);
    return ok;
}

bool host_warm_open(struct host_warm *out, const char *root, const struct labfile *about,
                    const struct toolkit *toolkit, struct err *err)
{
    *out = (struct host_warm){.root = root, .about = about, .toolkit = toolkit};
    look_for_gpu(out);
    out->can_build =
        host_builder_open(&out->builder, toolkit, root, about->slug, about->entry,
                          host_warm_fits_gpu(out) ? (int)out->capability : 0, &out->no_builder);
    return !out->can_build || build_own(out, &out->solution, "solution.cu", err);
}

void host_warm_close(struct host_warm *warm)
{
    host_child_free(&warm->child);
    host_build_free(&warm->solution);
    host_build_free(&warm->baseline);
    host_builder_close(&warm->builder);
    json_decref(warm->device);
    *warm = (struct host_warm){0};
}

bool host_warm_fits_gpu(const struct host_warm *warm)
{
    return warm->device && warm->capability >= capability_parse(warm->about->capability);
}

bool host_warm_baseline(struct host_warm *warm, struct err *err)
{
    if (warm->baseline.object)
        return true;
    if (!warm->can_build)
        return err_set(err, "%s", warm->no_builder.text);
    bool kept = warm->can_build;
    bool ok = build_own(warm, &warm->baseline, "baseline.cu", err);
    if (ok && !warm->can_build)
        ok = err_set(err, "%s", warm->no_builder.text);
    warm->can_build = kept;
    return ok;
}

static bool start(const struct host_warm *warm, struct host_child *out, bool gpu, uint64_t seed,
                  struct err *err)
{
    const struct toolkit *toolkit = warm->toolkit;
    if (gpu && !toolkit->parts[PART_CUDART])
        return err_set(err, "%s",
                       _("the CUDA runtime (libcudart.so) is not on this machine: run `make deps` "
                         "in Stride's folder, or install the CUDA Toolkit"));
    struct host_child_options options = {
        .root = warm->root,
        .lab = warm->about->slug,
        .entry = warm->about->entry,
        .cudart = gpu ? toolkit->parts[PART_CUDART] : NULL,
        .cupti = gpu ? toolkit->parts[PART_CUPTI] : NULL,
        .seed = seed,
        .device = warm->ordinal,
    };
    return host_child_start(out, &options, err);
}

bool host_warm_step(struct host_warm *warm)
{
    struct err ignored; /* the stage that misses it finds out itself */
    if (warm->can_build && !warm->baseline.build.name)
        return host_warm_baseline(warm, &ignored) || true;
    if (host_warm_fits_gpu(warm) && warm->can_build && !warm->child.line.cap)
        start(warm, &warm->child, true, WORK_DEFAULT_SEED, &ignored);
    return false;
}

void host_warm_relax(struct host_warm *warm)
{
    host_child_free(&warm->child);
    warm->child.line.cap = 1; /* and none is started again */
}

bool host_warm_child(struct host_warm *warm, struct host_child *out, bool gpu, uint64_t seed,
                     struct err *err)
{
    if (gpu && warm->child.pid) {
        *out = warm->child;
        warm->child = (struct host_child){0};
        if (host_child_wait(out, START_MS, err))
            return true;
        host_child_free(out);
    }
    return start(warm, out, gpu, seed, err) && host_child_wait(out, START_MS, err);
}
