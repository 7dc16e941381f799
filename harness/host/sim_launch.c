/* Kernels: what a launch checks at the call, and how it runs in the interpreter. */
#include "sim.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_THREADS = 1024,
    MOST_Z = 64,
    MOST_GRID_YZ = 65535,
    SHARED_DEFAULT = 48 << 10,
    SHARED_MOST = 227 << 10,
    INTERPRETER_THREADS = 8,
    STEPS_PER_BLOCK = 1 << 25,
};

/* ---- at the call */

static int check_grid(struct dim3 grid, struct dim3 block)
{
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)
        sim_why(_("a grid of %ux%ux%u blocks of %ux%ux%u threads has nothing in it"), grid.x,
                grid.y, grid.z, block.x, block.y, block.z);
    else if (block.x > MOST_THREADS || block.y > MOST_THREADS || block.z > MOST_Z ||
             threads > MOST_THREADS)
        sim_why(_("a block of %ux%ux%u threads: at most 1024 in all, and 64 in z"), block.x,
                block.y, block.z);
    else if (grid.x > INT32_MAX || grid.y > MOST_GRID_YZ || grid.z > MOST_GRID_YZ)
        sim_why(_("the grid %ux%ux%u is too large"), grid.x, grid.y, grid.z);
    else
        return CUDA_OK;
    return CUDA_INVALID_VALUE; /* cudaErrorInvalidConfiguration before CUDA 13 */
}

static int check_resources(const struct kernel *kernel, struct dim3 block, size_t shared)
{
    const struct ptx_entry *entry = kernel->entry;
    size_t most = kernel->dynamic_shared_most ? kernel->dynamic_shared_most : SHARED_DEFAULT;
    if (!kernel->dynamic_shared_most && entry->static_shared_bytes <= most)
        most -= entry->static_shared_bytes;
    if (entry->max_threads && block.x * block.y * block.z > entry->max_threads) {
        sim_why(_("a block of %u threads, but %s is bound to %u"), block.x * block.y * block.z,
                kernel->label, entry->max_threads);
        return CUDA_INVALID_VALUE; /* cudaErrorLaunchOutOfResources before CUDA 13 */
    }
    if (shared > most) {
        sim_why(_("%zu bytes of dynamic shared memory; %zu are possible here, up to 227 KiB after "
                  "cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...)"),
                shared, most);
        return CUDA_INVALID_VALUE;
    }
    return CUDA_OK;
}

int work_launch(struct work *out, const void *function, struct dim3 grid, struct dim3 block,
                void **params, size_t shared_bytes)
{
    struct kernel *kernel = kernel_find(function);
    *out = (struct work){.kind = WORK_EMPTY, .line = sim_call_line()};
    if (!kernel) {
        sim_why("%s", _("this is not a kernel of this program"));
        return CUDA_INVALID_HANDLE;
    }
    int result = kernel_open(kernel);
    if (!result)
        result = check_grid(grid, block);
    if (!result)
        result = check_resources(kernel, block, shared_bytes);
    const struct ptx_entry *entry = kernel->entry;
    if (!result && entry->param_count && !params)
        result = CUDA_INVALID_VALUE;
    if (result)
        return result;
    out->kind = WORK_KERNEL;
    out->launch = (struct launch){.kernel = kernel,
                                  .grid = {grid.x, grid.y, grid.z},
                                  .block = {block.x, block.y, block.z},
                                  .shared_bytes = (uint32_t)shared_bytes,
                                  .params = mem_zero(entry->param_bytes + 16, 1),
                                  .param_bytes = entry->param_bytes};
    for (size_t i = 0; i < entry->param_count; i++)
        memcpy(out->launch.params + entry->params[i].offset, params[i], entry->params[i].bytes);
    return CUDA_OK;
}

static int launch(const void *function, struct dim3 grid, struct dim3 block, void **params,
                  size_t shared, void *handle)
{
    struct work work;
    int result = sim_enter();
    struct stream *stream = result ? NULL : stream_find(handle);
    if (!result && !stream)
        result = CUDA_INVALID_HANDLE;
    if (!result)
        result = work_launch(&work, function, grid, block, params, shared);
    if (!result) {
        struct kernel *kernel = work.launch.kernel;
        if (!stream->capture)
            clock_call(CLOCK_LAUNCH);
        if (!kernel->launched && !stream->capture)
            clock_host(CLOCK_FIRST_US);
        kernel->launched |= !stream->capture;
        result = sim_submit(NULL, stream, &work);
    }
    return sim_leave(result);
}

static int launch_kernel(void *kernel, struct dim3 grid, struct dim3 block, void **params,
                         size_t shared, void *stream)
{
    return launch(kernel, grid, block, params, shared, stream);
}

static int launch_cooperative(const void *function, struct dim3 grid, struct dim3 block,
                              void **params, size_t shared, void *handle)
{
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    if (threads && blocks > 132 * (2048 / (threads > 2048 ? 2048 : threads))) {
        int result = sim_enter();
        return sim_leave(result ? result : CUDA_COOPERATIVE_TOO_LARGE);
    }
    return launch(function, grid, block, params, shared, handle);
}

/* cudaLaunchConfig_t, cudaLaunchAttribute */
struct launch_config {
    struct dim3 grid, block;
    size_t shared;
    void *stream;
    const struct launch_attribute {
        int id;
        char padding[4];
        uint64_t value[8];
    } * attributes;
    unsigned attribute_count;
};

static int launch_ex(const void *config, const void *function, void **params)
{
    /* Attributes that change nothing here: access policy, cooperation, sync policy, priority, ...
     */
    static const unsigned harmless =
        1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 8 | 1u << 9 | 1u << 10;
    const struct launch_config *c = config;
    int result = sim_enter();
    if (!result && !c)
        result = CUDA_INVALID_VALUE;
    for (unsigned i = 0; !result && c->attributes && i < c->attribute_count; i++) {
        unsigned id = (unsigned)c->attributes[i].id;
        if (id < 32 && (harmless >> id & 1))
            continue;
        report_cannot(_("the simulator does not know launch attribute %u (clusters, programmatic "
                        "launches)"),
                      id);
        result = CUDA_NOT_SUPPORTED;
    }
    if (!result)
        result = launch(function, c->grid, c->block, params, c->shared, c->stream);
    return sim_leave(result);
}

/* ---- <<<>>> */

static _Thread_local struct {
    struct dim3 grid, block;
    size_t shared;
    void *stream;
} pushed[8];
static _Thread_local unsigned pushed_count;

static unsigned push_configuration(struct dim3 grid, struct dim3 block, size_t shared, void *stream)
{
    if (pushed_count == sizeof pushed / sizeof pushed[0])
        return 1;
    pushed[pushed_count].grid = grid;
    pushed[pushed_count].block = block;
    pushed[pushed_count].shared = shared;
    pushed[pushed_count++].stream = stream;
    return 0;
}

static int pop_configuration(struct dim3 *grid, struct dim3 *block, size_t *shared, void *stream)
{
    if (!pushed_count)
        return CUDA_MISSING_CONFIGURATION;
    pushed_count--;
    *grid = pushed[pushed_count].grid;
    *block = pushed[pushed_count].block;
    *shared = pushed[pushed_count].shared;
    *(void **)stream = pushed[pushed_count].stream;
    return CUDA_OK;
}

/* ---- running */

static unsigned interpreter_threads(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (sim.options.threads)
        return sim.options.threads;
    return cores < 1 ? 1 : cores > INTERPRETER_THREADS ? INTERPRETER_THREADS : (unsigned)cores;
}

static void keep_touches(struct op *op, const struct ptx_result *result)
{
    /* Memory that only some addresses of it were touched in, a million times: too much to keep,
     * and to compare; then this launch is not compared. */
    enum { MOST = 1 << 20 };
    if (result->touch_count > MOST)
        return;
    for (size_t i = 0; i < result->touch_count; i++)
        op_touch(op, result->touches[i].va, result->touches[i].bytes, result->touches[i].how);
}

static int result_of(const struct ptx_result *result)
{
    switch (result->status) {
    case PTX_DONE:
        return CUDA_OK;
    case PTX_UNSUPPORTED:
        return CUDA_NOT_SUPPORTED;
    case PTX_TIMED_OUT:
    case PTX_DEADLOCK:
        return CUDA_LAUNCH_TIMEOUT;
    case PTX_FAULT:
        break;
    }
    return result->fault == PTX_FAULT_BOUNDS || result->fault == PTX_FAULT_NULL ||
                   result->fault == PTX_FAULT_READ_ONLY
               ? CUDA_ILLEGAL_ADDRESS
           : result->fault == PTX_FAULT_MISALIGNED ? CUDA_MISALIGNED
                                                   : CUDA_LAUNCH_FAILURE;
}

double launch_run(struct op *op)
{
    const struct launch *l = &op->work.launch;
    const struct program *program = l->kernel->program;
    size_t count;
    struct ptx_memory *memory = memory_list(&count);
    struct ptx_launch run = {
        .module = program->ptx,
        .image = program->image,
        .entry = l->kernel->name,
        .grid = {l->grid[0], l->grid[1], l->grid[2]},
        .block = {l->block[0], l->block[1], l->block[2]},
        .dynamic_shared_bytes = l->shared_bytes,
        .params = l->params,
        .param_bytes = l->param_bytes,
        .memory = memory,
        .memory_count = count,
        .options = {.checks = true,
                    .counters = true,
                    .footprint = true,
                    .threads = interpreter_threads(),
                    .steps = sim.options.steps ? sim.options.steps : STEPS_PER_BLOCK,
                    .deadline_ms = sim.options.deadline_ms,
                    .seed = sim.options.seed},
    };
    struct ptx_result result;
    struct err err = {0};
    double us = -1;
    if (ptx_run(&result, &run, &err)) {
        keep_touches(op, &result);
        us = clock_kernel_us(&result.counters);
        report_launch(op, &result);
        sim.sticky = result_of(&result);
        ptx_result_free(&result);
    } else {
        report_cannot("%s", err.text);
        sim.sticky = CUDA_NOT_SUPPORTED;
    }
    free(memory);
    return us;
}

/* ---- what kernels are like */

/* The first fields of cudaFuncAttributes. */
struct func_attributes {
    size_t shared_bytes, const_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared,
        preferred_carveout;
};

enum { REGISTERS = 32 }; /* a guess: nothing here allocates registers */

static int func_get_attributes(void *attributes, const void *function)
{
    struct func_attributes *out = attributes;
    int result = sim_enter();
    struct kernel *kernel = kernel_find(function);
    if (!result)
        result = !out ? CUDA_INVALID_VALUE : !kernel ? CUDA_INVALID_DEVICE_FUNCTION : CUDA_OK;
    if (!result)
        result = kernel_open(kernel);
    if (!result) {
        unsigned dynamic = kernel->dynamic_shared_most;
        *out = (struct func_attributes){
            .shared_bytes = kernel->entry->static_shared_bytes,
            .local_bytes = kernel->entry->local_bytes,
            .max_threads =
                kernel->entry->max_threads ? (int)kernel->entry->max_threads : MOST_THREADS,
            .registers = REGISTERS,
            .ptx_version = (int)kernel->program->ptx->capability,
            .binary_version = (int)kernel->program->ptx->capability,
            .max_dynamic_shared = dynamic ? (int)dynamic : SHARED_DEFAULT,
            .preferred_carveout = -1};
    }
    return sim_leave(result);
}

static int func_set_attribute(const void *function, int attribute, int value)
{
    enum { MAX_DYNAMIC_SHARED = 8, PREFERRED_CARVEOUT = 9 };
    int result = sim_enter();
    struct kernel *kernel = kernel_find(function);
    if (!result && !kernel)
        result = CUDA_INVALID_DEVICE_FUNCTION;
    if (!result)
        result = kernel_open(kernel);
    if (!result && attribute == MAX_DYNAMIC_SHARED) {
        if (value < 0 || (uint32_t)value + kernel->entry->static_shared_bytes > SHARED_MOST)
            result = CUDA_INVALID_VALUE;
        else
            kernel->dynamic_shared_most = (unsigned)value;
    } else if (!result && attribute != PREFERRED_CARVEOUT) {
        result = CUDA_INVALID_VALUE;
    }
    return sim_leave(result);
}

static int func_set_config(const void *function, int config)
{
    (void)config;
    int result = sim_enter();
    if (!result && !kernel_find(function))
        result = CUDA_INVALID_DEVICE_FUNCTION;
    return sim_leave(result);
}

static int occupancy_flags(int *out, const void *function, int block, size_t dynamic,
                           unsigned flags)
{
    enum { THREADS_PER_SM = 2048, BLOCKS_PER_SM = 32, SHARED_PER_SM = 228 << 10, RESERVED = 1024 };
    (void)flags;
    int result = sim_enter();
    struct kernel *kernel = kernel_find(function);
    if (!result && (!out || block < 1))
        result = CUDA_INVALID_VALUE;
    if (!result && !kernel)
        result = CUDA_INVALID_DEVICE_FUNCTION;
    if (!result)
        result = kernel_open(kernel);
    if (!result) {
        size_t shared = kernel->entry->static_shared_bytes + dynamic + RESERVED;
        int warps = (block + 31) / 32, by_threads = THREADS_PER_SM / 32 / warps;
        int by_shared = shared > SHARED_PER_SM ? 0 : (int)(SHARED_PER_SM / shared);
        int most = by_threads < by_shared ? by_threads : by_shared;
        *out = block > MOST_THREADS ? 0 : most < BLOCKS_PER_SM ? most : BLOCKS_PER_SM;
    }
    return sim_leave(result);
}

static int occupancy(int *out, const void *function, int block, size_t dynamic)
{
    return occupancy_flags(out, function, block, dynamic, 0);
}

void sim_install_launches(struct runtime *out)
{
    sim_install_programs(out);
    out->cudaLaunchKernel = launch;
    out->__cudaLaunchKernel = launch_kernel;
    out->cudaLaunchCooperativeKernel = launch_cooperative;
    out->cudaLaunchKernelExC = launch_ex;
    out->__cudaPushCallConfiguration = push_configuration;
    out->__cudaPopCallConfiguration = pop_configuration;
    out->cudaFuncGetAttributes = func_get_attributes;
    out->cudaFuncSetAttribute = func_set_attribute;
    out->cudaFuncSetCacheConfig = func_set_config;
    out->cudaFuncSetSharedMemConfig = func_set_config;
    out->cudaOccupancyMaxActiveBlocksPerMultiprocessor = occupancy;
    out->cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags = occupancy_flags;
}
