/* How long a kernel takes from source to PTX and machine code in a child that is warm, and with
 * nvcc and ptxas instead; the ratio is what warming in advance is for. */
#include "harness/base/file.h"
#include "harness/compile.h"
#include "harness/emit.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 9, NVCC_ROUNDS = 3 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median, or -1 when it does not compile. */
static double measure(struct compiler *compiler, const char *path, int rounds, double *first)
{
    double ms[ROUNDS];
    struct build build;
    for (int i = -1; i < rounds; i++) {
        if (!compiler_build(compiler, &build, path, NULL, "kernel.cu", NULL))
            return -1;
        bool ok = build.ok;
        *(i < 0 ? first : &ms[i]) = build.ms;
        build_free(&build);
        if (!ok)
            return -1;
    }
    qsort(ms, (size_t)rounds, sizeof *ms, ascending);
    return ms[rounds / 2];
}

static void measure_lab(const struct toolkit *toolkit, const char *root, const char *slug)
{
    struct compiler compiler;
    struct err err = {0};
    double first = 0, first_nvcc = 0, warm = -1, slow = -1;
    char *path = mem_printf("%s/kernels/%s/solution.cu", root, slug);
    struct toolkit only_nvcc = *toolkit;
    only_nvcc.parts[PART_NVRTC] = NULL;
    if (compiler_open(&compiler, toolkit, root, slug, 90, &err)) {
        warm = measure(&compiler, path, ROUNDS, &first);
        compiler_close(&compiler);
    }
    if (compiler_open(&compiler, &only_nvcc, root, slug, 90, &err)) {
        slow = measure(&compiler, path, NVCC_ROUNDS, &first_nvcc);
        compiler_close(&compiler);
    }
    if (warm < 0)
        printf("%-20s not compiled: %s\n", slug, err.text);
    else
        printf("%-20s first %6.0f ms   warm %6.1f ms   nvcc and ptxas %6.0f ms   ratio %.1f\n",
               slug, first, warm, slow, slow / warm);
    free(path);
}

int main(void)
{
    static const char *const labs[] = {"cp-async", "memory-pipelines", "sgemm-wmma"};
    struct toolkit toolkit;
    char *root = realpath(".", NULL);
    toolkit_find(&toolkit, root, "");
    for (size_t i = 0; i < sizeof labs / sizeof *labs; i++) {
        char *path = mem_printf("%s/kernels/%s/solution.cu", root, labs[i]);
        if (file_exists(path))
            measure_lab(&toolkit, root, labs[i]);
        free(path);
    }
    toolkit_free(&toolkit);
    free(root);
    return 0;
}
