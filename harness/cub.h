/* CUB's algorithm for a lab, called on device memory: the peer of reduction and scan.
 *
 * A struct cub owns its scratch memory on the device; cub_close gives it back. The object
 * (cub_build.h) stays loaded until the process ends. It brings a CUDA runtime of its own, which
 * uses the context that is current.
 *
 * It times nothing and compares no results.
 */
#ifndef STRIDE_HARNESS_CUB_H
#define STRIDE_HARNESS_CUB_H

#include "harness/backend.h"

struct cub {
    struct backend *gpu;
    int (*call)(void *scratch, size_t *bytes, const void *input, void *output, size_t n,
                void *stream);
    uint64_t scratch; /* on the device; 0 when none is needed */
    size_t scratch_bytes, n;
};

/* Opens the object for n elements. False: err says what it lacks or refused. */
bool cub_open(struct cub *out, const char *object, struct backend *gpu, size_t n, struct err *err);

/* Puts one call into the stream: device[0] is read, device[1] written. Takes a struct cub,
 * as bench_time_call does. */
bool cub_call(void *cub, const uint64_t device[], void *stream, struct err *err);

void cub_close(struct cub *cub);

#endif
