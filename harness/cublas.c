#include "cublas.h"

#include "gemm.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

enum { NO_TRANSPOSE = 0, MATH_DEFAULT = 0, MATH_TF32 = 3 }; /* cublas_api.h of CUDA 11 to 13 */

/* X(member, "symbol", (parameters)) */
#define FUNCTIONS(X)                                                                               \
    X(create, "cublasCreate_v2", (void **handle))                                                  \
    X(destroy, "cublasDestroy_v2", (void *handle))                                                 \
    X(set_stream, "cublasSetStream_v2", (void *handle, void *stream))                              \
    X(set_math, "cublasSetMathMode", (void *handle, int mode))                                     \
    X(multiply, "cublasSgemm_v2",                                                                  \
      (void *handle, int transpose_a, int transpose_b, int m, int n, int k, const float *alpha,    \
       const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc))

struct cublas_functions {
#define X(member, symbol, parameters) int(*member) parameters;
    FUNCTIONS(X)
#undef X
};

static bool open_library(struct cublas_functions *out, const char *path, struct err *err)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, _("cuBLAS could not be opened: %s"), dlerror());
    bool whole = true;
#define X(member, symbol, parameters)                                                              \
    out->member = (int(*) parameters)(uintptr_t)dlsym(library, symbol);                            \
    whole = whole && out->member;
    FUNCTIONS(X)
#undef X
    return whole || err_set(err, _("%s lacks functions that cuBLAS has"), path);
}

bool cublas_open(struct cublas *out, const char *path, const unsigned size[3], bool tf32,
                 struct err *err)
{
    *out = (struct cublas){
        .functions = mem_zero(1, sizeof *out->functions), .m = size[0], .n = size[1], .k = size[2]};
    if (!open_library(out->functions, path, err))
        return false;
    int status = out->functions->create(&out->handle);
    if (status) {
        out->handle = NULL;
        return err_set(err, _("cuBLAS did not start (status %d)"), status);
    }
    out->functions->set_math(out->handle, tf32 ? MATH_TF32 : MATH_DEFAULT);
    return true;
}

/* cuBLAS counts by columns: to it, row-major C = A B is C' = B' A'. */
bool cublas_call(void *context, const uint64_t device[], void *stream, struct err *err)
{
    const struct cublas *cublas = context;
    const float one = 1, zero = 0;
    int m = (int)cublas->m, n = (int)cublas->n, k = (int)cublas->k;
    int status = cublas->functions->set_stream(cublas->handle, stream);
    if (!status)
        status = cublas->functions->multiply(cublas->handle, NO_TRANSPOSE, NO_TRANSPOSE, n, m, k,
                                             &one, (const float *)(uintptr_t)device[GEMM_B], n,
                                             (const float *)(uintptr_t)device[GEMM_A], k, &zero,
                                             (float *)(uintptr_t)device[GEMM_C], n);
    return !status || err_set(err, _("cuBLAS did not multiply (status %d)"), status);
}

void cublas_close(struct cublas *cublas)
{
    if (cublas->handle)
        cublas->functions->destroy(cublas->handle);
    free(cublas->functions);
    *cublas = (struct cublas){0};
}
