#include "cublas.h"

#include "driver.h"

#include "harness/base/msg.h"

#include <dlfcn.h>
#include <stddef.h>

enum { NO_TRANSPOSE = 0, MATH_DEFAULT = 0, MATH_TF32 = 3 }; /* cublas_api.h of CUDA 11 to 13 */
enum { WARM_UP = 3, LAUNCHES = 15 };

/* X(member, "symbol", (parameters)) */
#define FUNCTIONS(X)                                                                               \
    X(create, "cublasCreate_v2", (void **handle))                                                  \
    X(destroy, "cublasDestroy_v2", (void *handle))                                                 \
    X(set_math, "cublasSetMathMode", (void *handle, int mode))                                     \
    X(multiply, "cublasSgemm_v2",                                                                  \
      (void *handle, int transpose_a, int transpose_b, int m, int n, int k, const float *alpha,    \
       const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc))

struct cublas {
#define X(member, symbol, parameters) int(*member) parameters;
    FUNCTIONS(X)
#undef X
};

static bool open_library(struct cublas *out, const char *path, struct err *err)
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

/* cuBLAS counts by columns: to it, row-major C = A B is C' = B' A'. */
static int multiply(const struct cublas *cublas, void *handle, const struct cublas_product *p)
{
    const float one = 1, zero = 0;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    return cublas->multiply(handle, NO_TRANSPOSE, NO_TRANSPOSE, n, m, k, &one,
                            (const float *)(uintptr_t)p->b, n, (const float *)(uintptr_t)p->a, k,
                            &zero, (float *)(uintptr_t)p->c, n);
}

static bool sample(const struct driver *driver, const struct cublas *cublas, void *handle,
                   const struct cublas_product *product, void *events[2], double *ms,
                   struct err *err)
{
    float took = 0;
    int result = driver->event_record(events[0], NULL);
    int status = multiply(cublas, handle, product);
    if (status)
        return err_set(err, _("cuBLAS did not multiply (status %d)"), status);
    if (!result)
        result = driver->event_record(events[1], NULL);
    if (!result)
        result = driver->stream_wait(NULL);
    if (!result)
        result = driver->event_elapsed(&took, events[0], events[1]);
    *ms = (double)took;
    return !result || driver_fail(driver, result, err, "cuBLAS");
}

bool cublas_time(struct interval *ms, const char *path, const struct cublas_product *product,
                 struct err *err)
{
    const struct driver *driver;
    struct cublas cublas = {0};
    void *handle = NULL, *events[2] = {NULL, NULL};
    double samples[WARM_UP + LAUNCHES];
    if (!driver_open(&driver, err) || !open_library(&cublas, path, err))
        return false;
    int status = cublas.create(&handle);
    if (status)
        return err_set(err, _("cuBLAS did not start (status %d)"), status);
    cublas.set_math(handle, product->tf32 ? MATH_TF32 : MATH_DEFAULT);
    bool ok = driver->event_create(&events[0], 0) == 0 && driver->event_create(&events[1], 0) == 0;
    if (!ok)
        err_set(err, "%s", _("cuBLAS could not be timed: the driver gives no events"));
    for (int i = 0; ok && i < WARM_UP + LAUNCHES; i++)
        ok = sample(driver, &cublas, handle, product, events, &samples[i], err);
    if (ok)
        *ms = stats_median(samples + WARM_UP, LAUNCHES);
    for (int i = 0; i < 2; i++)
        if (events[i])
            driver->event_destroy(events[i]);
    cublas.destroy(handle);
    return ok;
}
