/* How many blocks of a kernel fit on one multiprocessor, and what limits them.
 *
 * Pure: figures in, figures out.
 *
 * The limits are those of the CUDA C++ Programming Guide, "Technical Specifications per Compute
 * Capability"; the GPU itself is not asked. */
#ifndef STRIDE_HARNESS_OCCUPANCY_H
#define STRIDE_HARNESS_OCCUPANCY_H

#include <stdbool.h>

struct occupancy {
    unsigned blocks_per_sm, warps_per_sm, warps_most;
    const char *limited_by; /* "registers", "shared memory", "threads", "blocks"; "" when full */
};

/* False when the capability is unknown or the block can't run at all. shared_bytes is static and
 * dynamic together, per block. */
bool occupancy_compute(struct occupancy *out, unsigned capability, unsigned block_threads,
                       unsigned registers, unsigned shared_bytes);

#endif
