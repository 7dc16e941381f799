/* What a cubin says about one kernel: registers, shared and local memory, code size.
 *
 * Pure: bytes in, figures out. Any bytes are safe to pass.
 *
 * It reads the ELF and NVIDIA's .nv.info attributes, never the instructions. */
#ifndef STRIDE_HARNESS_CUBIN_H
#define STRIDE_HARNESS_CUBIN_H

#include "harness/base/err.h"

#include <stddef.h>
#include <stdint.h>

struct cubin_kernel {
    unsigned registers;    /* per thread */
    unsigned shared_bytes; /* static, per block, as the kernel declared it */
    unsigned local_bytes;  /* stack frame, per thread */
    unsigned max_threads;  /* of __launch_bounds__; 0 when not given */
    size_t code_bytes;
};

/* Reads the figures of `entry` for code of this capability (90). */
bool cubin_read(struct cubin_kernel *out, const void *cubin, size_t len, const char *entry,
                unsigned capability, struct err *err);

#endif
