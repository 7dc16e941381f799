/* How fast the simulator runs: lane-instructions per second of one core, without checks, with all
 * hazard checks, and with counters too, in every build that this CPU has. The kernels are a
 * cp.async double-buffered SGEMM and a plain one of 16x16 tiles, 512^3, from stored PTX; their
 * results are compared with the host's. */
#include "harness/base/file.h"
#include "harness/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 512, ROUNDS = 5 };

struct kernel {
    const char *name, *file, *entry;
    uint32_t tile, block[2];
};

static const struct kernel kernels[] = {
    {"cp.async, 32x32 tiles",
     "tests/fuzz/corpus/ptx_run/08_sgemm_cpasync_ptx.80",
     "sgemm_async",
     32,
     {256, 1}},
    {"synchronous, 16x16 tiles", "tests/bench/sgemm_tiles.ptx", "sgemm16", 16, {16, 16}},
};

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static float *matrix(unsigned seed)
{
    float *m = aligned_alloc(64, sizeof(float) * N * N);
    if (!m)
        abort();
    for (unsigned i = 0; i < N * N; i++) {
        seed = seed * 1664525u + 1013904223u;
        m[i] = (float)((int)(seed >> 24 & 15) - 8) / 8;
    }
    return m;
}

static bool is_right(const float *a, const float *b, const float *c)
{
    for (unsigned k = 0; k < 300; k++) {
        unsigned row = k * 37 % N, column = k * 101 % N;
        double sum = 0;
        for (unsigned i = 0; i < N; i++)
            sum += (double)a[row * N + i] * b[i * N + column];
        if (sum != c[row * N + column])
            return false;
    }
    return true;
}

static int ascending(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Median of billions of lane-instructions per second of CPU time; -1 when something is wrong. */
static double measure(struct ptx_launch *launch)
{
    double rates[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        struct ptx_result result;
        struct err err = {0};
        double start = cpu_seconds();
        if (!ptx_run(&result, launch, &err))
            return -1;
        double seconds = cpu_seconds() - start;
        rates[i] = (double)result.counters.thread_instructions / seconds / 1e9;
        bool clean = result.status == PTX_DONE && !result.hazard_count;
        ptx_result_free(&result);
        if (!clean)
            return -1;
    }
    qsort(rates, ROUNDS, sizeof *rates, ascending);
    return rates[ROUNDS / 2];
}

static void bench(const struct kernel *kernel, const struct ptx_module *module)
{
    float *a = matrix(1), *b = matrix(2), *c = matrix(3);
    struct ptx_memory memory[] = {
        {.va = 1ull << 32, .bytes = sizeof(float) * N * N, .host = a, .name = "A"},
        {.va = 2ull << 32, .bytes = sizeof(float) * N * N, .host = b, .name = "B"},
        {.va = 3ull << 32, .bytes = sizeof(float) * N * N, .host = c, .name = "C"},
    };
    struct {
        uint64_t a, b, c;
        int m, n, k;
    } params = {memory[0].va, memory[1].va, memory[2].va, N, N, N};
    struct ptx_launch launch = {
        .module = module,
        .image = ptx_image_open(module),
        .entry = kernel->entry,
        .grid = {N / kernel->tile, N / kernel->tile, 1},
        .block = {kernel->block[0], kernel->block[1], 1},
        .params = &params,
        .param_bytes = 36,
        .memory = memory,
        .memory_count = 3,
    };
    static const char *const names[] = {
        [PTX_ISA_BASE] = "SSE2", [PTX_ISA_AVX2] = "AVX2", [PTX_ISA_AVX512] = "AVX-512"};
    printf("%s\n%-8s %10s %10s %22s   (G lane-instructions/s, one core)\n", kernel->name, "build",
           "plain", "checks", "checks and counters");
    for (int isa = PTX_ISA_BASE; isa <= PTX_ISA_AVX512; isa++) {
        double rates[3];
        launch.options.isa = (enum ptx_isa)isa;
        for (int mode = 0; mode < 3; mode++) {
            launch.options.checks = mode > 0;
            launch.options.counters = mode > 1;
            rates[mode] = measure(&launch);
        }
        printf("%-8s %10.2f %10.2f %22.2f   %s\n", names[isa], rates[0], rates[1], rates[2],
               is_right(a, b, c) ? "result right" : "WRONG RESULT");
    }
    ptx_image_close(launch.image);
    free(a);
    free(b);
    free(c);
}

static bool bench_file(const struct kernel *kernel)
{
    struct arena arena = {0};
    struct buf text = {0};
    struct err err = {0};
    struct ptx_module *module;
    bool ok = file_read(&text, kernel->file, 1 << 20, &err) &&
              ptx_parse(&module, &arena, buf_str(&text), text.len, &err);
    if (ok)
        bench(kernel, module);
    else
        printf("skip simulator: %s\n", err.text);
    arena_free(&arena);
    buf_free(&text);
    return ok;
}

int main(void)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        ok &= bench_file(&kernels[i]);
    return !ok;
}
