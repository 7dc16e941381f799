/* cuBLAS's matrix product, called on device memory: the peer of the labs that multiply matrices.
 *
 * A struct cublas owns its handle; cublas_close gives it back. The library is opened from the
 * toolkit at run time and stays loaded until the process ends. Matrices are the caller's and lie on
 * the device, row-major floats.
 *
 * It times nothing and compares no results.
 */
#ifndef STRIDE_HARNESS_CUBLAS_H
#define STRIDE_HARNESS_CUBLAS_H

#include "harness/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct cublas_functions;

struct cublas {
    struct cublas_functions *functions;
    void *handle;
    unsigned m, n, k; /* C = A B: rows of C, columns of C, columns of A */
};

/* Opens the library at `path` for a product of these sizes, on Tensor Cores with TF32 inputs or
 * in FP32. False: err says what is missing. */
bool cublas_open(struct cublas *out, const char *path, const unsigned size[3], bool tf32,
                 struct err *err);

/* Puts one product into the stream, of A, B and C at device[GEMM_A] and so on. Takes a
 * struct cublas, as bench_time_call does. */
bool cublas_call(void *cublas, const uint64_t device[], void *stream, struct err *err);

void cublas_close(struct cublas *cublas);

#endif
