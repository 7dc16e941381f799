#include "warm.h"

#include "cub_build.h"
#include "gpu.h"
#include "host_warm.h"
#include "work.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PREPARED_BYTES = 192 << 20 }; /* most host memory: many students share a machine */

void warm_take_gpu(struct warm *warm)
{
    if (warm->gpu || warm->host)
        return;
    if (!gpu_open(&warm->gpu, gpu_wanted_ordinal(), &warm->no_gpu)) {
        warm->gpu = NULL;
        return;
    }
    struct gpu_info info;
    gpu_describe(warm->gpu, &info);
    warm->capability = (unsigned)(info.major * 10 + info.minor);
}

static void release_gpu(struct warm *warm)
{
    prepared_free(&warm->prepared);
    if (warm->gpu)
        warm->gpu->ops->close(warm->gpu);
    warm->gpu = NULL;
}

bool warm_fits_gpu(const struct warm *warm)
{
    return warm->gpu && warm->capability >= capability_parse(warm->about->capability);
}

bool warm_step(struct warm *warm)
{
    return warm->host ? host_warm_step(warm->host) : prepared_step(&warm->prepared);
}

void warm_relax(struct warm *warm)
{
    release_gpu(warm);
    if (warm->host)
        host_warm_relax(warm->host);
    if (warm->can_compile)
        compiler_relax(&warm->compiler);
}

/* The first compilation of a process loads NVRTC's tables; that goes on beside the driver's start.
 */
static void *warm_compiler(void *argument)
{
    const struct toolkit *toolkit = argument;
    struct nvrtc nvrtc;
    struct compiler_output out;
    const char *const options[] = {"--gpu-architecture=compute_80"};
    if (toolkit->parts[PART_NVRTC] &&
        nvrtc_open(&nvrtc, toolkit->parts[PART_NVRTC], toolkit->parts[PART_BUILTINS], NULL)) {
        if (nvrtc_compile(&nvrtc, &out, "__global__ void k() {}", "warm.cu", 0, NULL, NULL, 1,
                          options, NULL))
            compiler_output_free(&out);
        /* Not closed: the library stays loaded for the compiler that is opened next. */
    }
    return NULL;
}

/* Compiles one of the lab's own files; they have no errors, or the lab is broken. */
static bool build_own(struct warm *warm, struct build *out, const char *folder, const char *file,
                      bool needed, struct err *err)
{
    if (!warm->can_compile)
        return true;
    char *path = mem_printf("%s/kernels/%s%s", warm->root, folder, file);
    bool ok = true;
    if (needed || file_exists(path))
        warm->can_compile = compiler_build(&warm->compiler, out, path, NULL, file + (*file == '/'),
                                           &warm->no_compiler);
    if (out->name && !out->ok && out->diagnostics.setup) {
        err_set(&warm->no_compiler, "%s", out->diagnostics.setup);
        warm->can_compile = false;
    } else if (out->name && !out->ok)
        ok = err_set(err, _("%s does not compile: line %u: %s"), path,
                     out->diagnostics.count ? out->diagnostics.items[0].line : 0,
                     out->diagnostics.count ? out->diagnostics.items[0].text : "no reason given");
    free(path);
    return ok;
}

static bool build_all(struct warm *warm, struct err *err)
{
    const char *slug = warm->about->slug;
    if (!build_own(warm, &warm->solution, slug, "/solution.cu", true, err))
        return false;
    /* The others are only timed against, and nothing is timed without a GPU. */
    return !warm_fits_gpu(warm) ||
           (build_own(warm, &warm->baseline, slug, "/baseline.cu", true, err) &&
            build_own(warm, &warm->limits, "", "limits.cu", false, err));
}

static bool open_host(struct warm *warm, struct err *err)
{
    warm->host = mem_zero(1, sizeof *warm->host);
    if (host_warm_open(warm->host, warm->root, warm->about, &warm->toolkit, err))
        return true;
    warm_close(warm);
    return false;
}

/* Each size of lab.yaml has to be one that the lab can have. */
static bool sizes_fit(const struct lab *lab, const uint64_t *sizes, unsigned count, struct err *err)
{
    struct lab_shape shape;
    for (unsigned i = 0; lab && i < count; i++)
        if (!lab->shape(&shape, sizes[i]))
            return err_set(err, _("the lab %s has no size %llu: correct the sizes in its lab.yaml"),
                           lab->slug, (unsigned long long)sizes[i]);
    return true;
}

bool warm_open(struct warm *out, const char *root, const char *slug, struct err *err)
{
    *out = (struct warm){.root = root};
    if (!labfile_load(&out->about, root, slug, err))
        return false;
    out->lab = lab_find(slug);
    toolkit_find(&out->toolkit, root, "");
    if (out->about->kind == LAB_HOST)
        return open_host(out, err);
    const struct labfile *about = out->about;
    if (!sizes_fit(out->lab, about->check_sizes, about->check_sizes_count, err) ||
        !sizes_fit(out->lab, about->sim_sizes, about->sim_sizes_count, err) ||
        !sizes_fit(out->lab, &about->time_size, 1, err)) {
        warm_close(out);
        return false;
    }
    pthread_t thread;
    bool threaded = pthread_create(&thread, NULL, warm_compiler, &out->toolkit) == 0;
    warm_take_gpu(out);
    if (threaded)
        pthread_join(thread, NULL);
    out->can_compile =
        compiler_open(&out->compiler, &out->toolkit, root, slug,
                      warm_fits_gpu(out) ? (int)out->capability : 0, &out->no_compiler);
    bool ok = build_all(out, err);
    if (ok && out->lab && warm_fits_gpu(out))
        prepared_plan(&out->prepared, out->gpu, out->lab, out->about->check_sizes,
                      out->about->check_sizes_count, WORK_DEFAULT_SEED, PREPARED_BYTES);
    if (ok && out->lab && out->lab->peer == LAB_PEER_CUB && warm_fits_gpu(out)) {
        out->cub = mem_zero(1, sizeof *out->cub);
        cub_build_start(out->cub, &out->toolkit, root, slug, out->capability);
    }
    if (!ok)
        warm_close(out);
    return ok;
}

void warm_close(struct warm *warm)
{
    build_free(&warm->baseline);
    build_free(&warm->solution);
    build_free(&warm->limits);
    if (warm->can_compile)
        compiler_close(&warm->compiler);
    release_gpu(warm);
    if (warm->cub)
        cub_build_stop(warm->cub);
    free(warm->cub);
    if (warm->host)
        host_warm_close(warm->host);
    free(warm->host);
    toolkit_free(&warm->toolkit);
    labfile_free(warm->about);
    *warm = (struct warm){0};
}
