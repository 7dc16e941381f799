/* cuBLAS as the honest top of the scale: the time of the same matrix product by NVIDIA's library.
 *
 * The library is opened from the toolkit at run time and stays open until the process ends; handle
 * and events are given back. Matrices belong to the caller and lie on the device, row-major floats.
 *
 * It judges nothing and compares no results. */
#ifndef STRIDE_HARNESS_CUBLAS_H
#define STRIDE_HARNESS_CUBLAS_H

#include "stats.h"

#include "harness/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct cublas_product { /* C = A B */
    unsigned m, n, k;   /* rows of C, columns of C, columns of A */
    uint64_t a, b, c;   /* device addresses */
    bool tf32;          /* on Tensor Cores with TF32 inputs; else in FP32 */
};

/* Milliseconds of one product, from some of them in the current context after a few for warming
 * up; their times stand in `ms`. `path` names libcublas. False: err says what the library or the
 * card refused. */
bool cublas_time(struct interval *ms, const char *path, const struct cublas_product *product,
                 struct err *err);

#endif
