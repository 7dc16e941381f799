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

/* More than this part of a limit is not a result but a mistake. */
#define LIMITS_MOST 1.05

struct limit {
    const char *kind; /* "copy", "read", "fma", "tensor", "bus" */
    const char *unit; /* "GB/s", "TFLOP/s" */
    double value;
};

/* Measures a limit. False: it could not be, for the reason in err (LIMIT_LAUNCH has none at all).
 * After a failed launch the backend may be lost; `lost` says so. */
bool limits_measure(struct limit *out, struct backend *gpu, const struct image *image,
                    enum lab_limit kind, bool *lost, struct err *err);

/* The rate a lab's launch achieved, in the unit of this limit. */
double limits_achieved(enum lab_limit kind, double bytes_moved, double flops, double ms);

/* Puts a limit and what was achieved of it into the record's `timing`; returns the part. */
double limits_write(const struct limit *limit, double achieved, json_t *timing);

#endif
