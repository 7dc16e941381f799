/* What this card can do at most, measured on it: bandwidth of copying and of reading,
 * FMA rate, Tensor-Core rate.
 *
 * The image is the caller's (kernels/limits.cu compiled). A measured limit is kept for the life of
 * the process and belongs to the card it was measured on.
 *
 * It never takes a number from a data sheet. */
#ifndef STRIDE_HARNESS_LIMITS_H
#define STRIDE_HARNESS_LIMITS_H

#include "harness/backend.h"
#include "harness/base/labfile.h"

struct limit {
    const char *kind; /* "copy", "read", "fma", "tensor" */
    const char *unit; /* "GB/s", "TFLOP/s" */
    double value;
};

/* Measures a limit. False: it could not be, for the reason in err (LIMIT_LAUNCH has none at all).
 * After a failed launch the backend may be lost; `lost` says so. */
bool limits_measure(struct limit *out, struct backend *gpu, const struct image *image,
                    enum lab_limit kind, bool *lost, struct err *err);

/* The rate a lab's launch achieved, in the unit of this limit. */
double limits_achieved(enum lab_limit kind, double bytes_moved, double flops, double ms);

#endif
