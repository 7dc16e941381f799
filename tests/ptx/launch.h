/* Running small PTX texts in the simulator, or on the GPU, for tests: parse, launch with an input
 * and an output array, and look at the result.
 *
 * The caller owns the arrays; a launch lasts for one call.
 *
 * It knows nothing of what the kernels compute. */
#ifndef STRIDE_TESTS_PTX_LAUNCH_H
#define STRIDE_TESTS_PTX_LAUNCH_H

#include "harness/backend.h"
#include "harness/gpu.h"
#include "harness/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAUNCH_IN_VA  0x100000000ull
#define LAUNCH_OUT_VA 0x200000000ull

struct ptx_job {
    const char *text, *entry;
    const void *in;
    void *out;
    size_t in_bytes, out_bytes;
    unsigned blocks, threads, shared;
    bool out_first; /* the parameters are (out, in) */
    bool checks;
    enum ptx_isa isa;
    enum ptx_isa ran;   /* which build it was; below `isa` when this CPU lacks that one */
    char message[1024]; /* why it did not end well; "" when it did */
    enum ptx_status status;
    bool refused; /* the GPU's assembler does not take it */
    size_t hazard_count;
    enum ptx_hazard_kind hazard; /* the first one's kind */
    char hazard_text[512];
};

/* A kernel with the parameters (.param .u64 in, .param .u64 out). False: job->message says why. */
static inline bool ptx_job_simulate(struct ptx_job *job)
{
    struct err err = {0};
    struct arena arena = {0};
    struct ptx_module *module = NULL;
    struct ptx_result result = {0};
    bool ok = false;
    size_t in_room = (job->in_bytes + 127) & ~(size_t)63,
           out_room = (job->out_bytes + 127) & ~(size_t)63;
    void *in = aligned_alloc(64, in_room), *out = aligned_alloc(64, out_room);
    uint64_t params[2] = {job->out_first ? LAUNCH_OUT_VA : LAUNCH_IN_VA,
                          job->out_first ? LAUNCH_IN_VA : LAUNCH_OUT_VA};
    struct ptx_image *image = NULL;
    struct ptx_memory memory[2] = {
        {.va = LAUNCH_IN_VA, .bytes = job->in_bytes, .host = in, .name = "in"},
        {.va = LAUNCH_OUT_VA, .bytes = job->out_bytes, .host = out, .name = "out"}};
    struct ptx_launch launch = {
        .entry = job->entry ? job->entry : "k",
        .grid = {job->blocks ? job->blocks : 1, 1, 1},
        .block = {job->threads, 1, 1},
        .dynamic_shared_bytes = job->shared,
        .params = params,
        .param_bytes = sizeof params,
        .memory = memory,
        .memory_count = 2,
        .options = {.checks = job->checks, .isa = job->isa, .steps = 1 << 24},
    };
    memcpy(in, job->in, job->in_bytes);
    memcpy(out, job->out, job->out_bytes);
    job->message[0] = '\0';
    if (!ptx_parse(&module, &arena, job->text, strlen(job->text), &err)) {
        snprintf(job->message, sizeof job->message, "%s", err.text);
        goto done;
    }
    image = ptx_image_open(module);
    launch.module = module;
    launch.image = image;
    if (!ptx_run(&result, &launch, &err)) {
        snprintf(job->message, sizeof job->message, "%s", err.text);
        goto done;
    }
    job->ran = result.isa;
    job->status = result.status;
    job->hazard_count = result.hazard_count;
    if (result.hazard_count) {
        job->hazard = result.hazards[0].kind;
        snprintf(job->hazard_text, sizeof job->hazard_text, "%s", result.hazards[0].text);
    }
    ok = result.status == PTX_DONE;
    if (!ok)
        snprintf(job->message, sizeof job->message, "%s", result.message);
    memcpy(job->out, out, job->out_bytes);
    ptx_result_free(&result);
done:
    ptx_image_close(image);
    arena_free(&arena);
    free(in);
    free(out);
    return ok;
}

/* ---- on the GPU ---- */

enum { ON_GPU_BYTES = 1 << 22 };

struct on_gpu {
    struct backend *backend; /* NULL: closed */
    struct gpu_info info;
    uint64_t in, out;
};

static inline bool on_gpu_open(struct on_gpu *gpu, struct err *err)
{
    if (gpu->backend)
        return true;
    if (!gpu_open(&gpu->backend, gpu_wanted_ordinal(), err))
        return false;
    gpu_describe(gpu->backend, &gpu->info);
    const struct backend_ops *ops = gpu->backend->ops;
    return ops->alloc(gpu->backend, &gpu->in, ON_GPU_BYTES, "in", err) &&
           ops->alloc(gpu->backend, &gpu->out, ON_GPU_BYTES, "out", err);
}

enum answer { ANSWER_OK, ANSWER_REFUSED, ANSWER_FAILED };

/* As ptx_job_simulate, into `out`. A lost context ends the program: nothing more can run. */
static inline enum answer on_gpu_run(struct on_gpu *gpu, const struct image *image,
                                     const struct ptx_job *job, void *out, struct err *err)
{
    const struct backend_ops *ops = gpu->backend->ops;
    struct backend_module *module = NULL;
    struct launch_result result = {0};
    uint64_t params[2] = {job->out_first ? gpu->out : gpu->in, job->out_first ? gpu->in : gpu->out};
    void *pointers[2] = {&params[0], &params[1]};
    size_t sizes[2] = {8, 8};
    if (!ops->load(gpu->backend, &module, image, err))
        return ANSWER_REFUSED;
    struct launch launch = {.module = module,
                            .entry = "k",
                            .grid = {job->blocks ? job->blocks : 1, 1, 1},
                            .block = {job->threads, 1, 1},
                            .dynamic_shared_bytes = job->shared,
                            .params = pointers,
                            .param_sizes = sizes,
                            .param_count = 2,
                            .deadline_ms = 10000};
    bool ok = ops->upload(gpu->backend, gpu->in, job->in, job->in_bytes, err) &&
              ops->fill(gpu->backend, gpu->out, 0, (job->out_bytes + 3) / 4 * 4, true, err) &&
              ops->launch(gpu->backend, &launch, &result, err) && result.verdict == VERDICT_PASS &&
              ops->download(gpu->backend, out, gpu->out, job->out_bytes, err);
    if (!ok && !err->text[0])
        err_set(err, "%s", result.text);
    if (result.poisoned) {
        printf("FAIL the GPU's context is lost: %s\n%s\n", result.text, image->ptx);
        fflush(stdout);
        _exit(1);
    }
    ops->unload(gpu->backend, module);
    free(result.output);
    return ok ? ANSWER_OK : ANSWER_FAILED;
}

/* Do the tests run their kernels on the GPU? */
static inline bool ptx_job_on_gpu(void)
{
    const char *where = getenv("STRIDE_PTX_ON");
    return where && !strcmp(where, "gpu");
}

static inline bool ptx_job_run(struct ptx_job *job)
{
    static struct on_gpu gpu;
    struct err err = {0};
    struct image image = {.ptx = job->text, .ptx_len = strlen(job->text), .source_name = "k.ptx"};
    if (!ptx_job_on_gpu())
        return ptx_job_simulate(job);
    job->hazard_count = 0;
    job->status = PTX_DONE;
    job->message[0] = '\0';
    enum answer answer =
        on_gpu_open(&gpu, &err) ? on_gpu_run(&gpu, &image, job, job->out, &err) : ANSWER_FAILED;
    job->refused = answer == ANSWER_REFUSED;
    if (answer == ANSWER_OK)
        return true;
    job->status = PTX_UNSUPPORTED;
    snprintf(job->message, sizeof job->message, "%s", err.text);
    return false;
}

#define PTX_HEAD                                                                                   \
    ".version 8.7\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"

#endif
