/* How fast the simulator is: lane-instructions per second on one core, for each instruction set
 * that this CPU has, without and with every hazard check and counter. The kernels are the labs'
 * solutions, as NVRTC compiles them for sm_90. */
#include "harness/compile.h"
#include "harness/lab.h"
#include "harness/ptx/ptx.h"

#include "harness/base/labfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, ALIGN = 64 };

static const struct {
    const char *slug;
    uint64_t n;
} kernels[] = {
    {"sgemm-blocked-async", 512}, {"sgemm-blocked", 512},   {"sgemm-wmma-async", 512},
    {"cp-async", 4194304},        {"multi-stage", 4194304},
};

static const struct {
    enum ptx_isa isa;
    const char *name;
} sets[] = {{PTX_ISA_BASE, "SSE2"}, {PTX_ISA_AVX2, "AVX2"}, {PTX_ISA_AVX512, "AVX-512"}};

struct problem {
    struct lab_shape shape;
    struct ptx_memory memory[LAB_BUFFERS];
    unsigned char params[256];
    size_t param_bytes;
};

static void problem_make(struct problem *problem, const struct lab *lab)
{
    const struct lab_shape *shape = &problem->shape;
    uint64_t va = 1ull << 32;
    for (int i = 0; i < shape->buffer_count; i++) {
        const struct lab_buffer *buffer = &shape->buffers[i];
        size_t bytes = buffer->count * lab_type_bytes(buffer->type);
        void *host = aligned_alloc(ALIGN, (bytes / ALIGN + 2) * ALIGN);
        if (!host)
            abort();
        memset(host, 0, (bytes / ALIGN + 2) * ALIGN);
        if (buffer->role != LAB_OUT)
            lab->fill(shape, i, 1, host);
        problem->memory[i] =
            (struct ptx_memory){.va = va, .bytes = bytes, .host = host, .name = buffer->name};
        va += (bytes / 4096 + 2) * 4096;
    }
    for (int i = 0; i < shape->arg_count; i++) {
        const struct lab_arg *arg = &shape->args[i];
        size_t size = arg->buffer >= 0 ? 8 : arg->size;
        problem->param_bytes = (problem->param_bytes + size - 1) / size * size;
        memcpy(problem->params + problem->param_bytes,
               arg->buffer >= 0 ? (const void *)&problem->memory[arg->buffer].va
                                : (const void *)&arg->value,
               size);
        problem->param_bytes += size;
    }
}

static void problem_free(struct problem *problem)
{
    for (int i = 0; i < problem->shape.buffer_count; i++)
        free(problem->memory[i].host);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The best of several runs in 1e9 lane-instructions per second; 0 when it did not end well or this
 * CPU lacks the set. One thread does all, so its CPU time is the time it takes. */
static double measure(const struct ptx_module *module, struct ptx_image *image, const char *entry,
                      const struct problem *problem, enum ptx_isa isa, bool checks)
{
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const struct lab_shape *shape = &problem->shape;
        struct ptx_launch launch = {
            .module = module,
            .image = image,
            .entry = entry,
            .grid = {shape->grid[0], shape->grid[1], shape->grid[2]},
            .block = {shape->block[0], shape->block[1], shape->block[2]},
            .dynamic_shared_bytes = shape->dynamic_shared_bytes,
            .params = problem->params,
            .param_bytes = problem->param_bytes,
            .memory = problem->memory,
            .memory_count = (size_t)shape->buffer_count,
            .options = {.checks = checks, .counters = checks, .threads = 1, .isa = isa},
        };
        struct ptx_result result = {0};
        struct err err = {0};
        double start = seconds();
        bool ran = ptx_run(&result, &launch, &err);
        double taken = seconds() - start;
        bool good = ran && result.status == PTX_DONE && result.isa == isa;
        double rate = good ? (double)result.counters.thread_instructions / taken / 1e9 : 0;
        if (!ran || result.status != PTX_DONE)
            printf("  %s\n", ran ? result.message : err.text);
        ptx_result_free(&result);
        if (!good)
            return 0;
        best = rate > best ? rate : best;
    }
    return best;
}

static void measure_lab(const struct toolkit *toolkit, const char *root, const char *slug,
                        uint64_t n)
{
    const struct lab *lab = lab_find(slug);
    struct labfile *about = NULL;
    struct compiler compiler;
    struct build build = {0};
    struct problem problem = {0};
    struct err err = {0};
    struct arena arena = {0};
    struct ptx_module *module = NULL;
    char *path = mem_printf("%s/kernels/%s/solution.cu", root, slug);
    if (lab && lab->shape(&problem.shape, n) && labfile_load(&about, root, slug, &err) &&
        compiler_open(&compiler, toolkit, root, slug, 90, &err)) {
        if (compiler_build(&compiler, &build, path, "kernel.cu", &err) && build.ok &&
            ptx_parse(&module, &arena, buf_str(&build.ptx), build.ptx.len, &err)) {
            struct ptx_image *image = ptx_image_open(module);
            problem_make(&problem, lab);
            for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
                double bare = measure(module, image, about->entry, &problem, sets[i].isa, false);
                double checked = measure(module, image, about->entry, &problem, sets[i].isa, true);
                if (bare > 0)
                    printf("%-20s %-8s %6.2f G/s   with all checks %6.2f G/s   ratio %.2f\n", slug,
                           sets[i].name, bare, checked, bare / checked);
                else
                    printf("%-20s %-8s not measured here\n", slug, sets[i].name);
            }
            problem_free(&problem);
            ptx_image_close(image);
        }
        build_free(&build);
        compiler_close(&compiler);
    }
    if (!module)
        printf("%-20s not measured: %s\n", slug, err.text);
    arena_free(&arena);
    labfile_free(about);
    free(path);
}

int main(void)
{
    struct toolkit toolkit;
    char *root = realpath(".", NULL);
    toolkit_find(&toolkit, root, "");
    printf(
        "lane-instructions per second, one core; budget for the cp.async SGEMM with all checks:\n"
        "1 G/s with AVX2, 2.5 G/s with AVX-512\n");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        measure_lab(&toolkit, root, kernels[i].slug, kernels[i].n);
    toolkit_free(&toolkit);
    free(root);
    return 0;
}
