/* Which bytes of global memory a launch read and wrote, from the shadow that global.h keeps anyway.
 *
 * The ranges belong to the result.
 *
 * It is as fine as the shadow: 4-byte words. Constant and local memory are not in it. */
#ifndef STRIDE_PTX_FOOTPRINT_H
#define STRIDE_PTX_FOOTPRINT_H

#include "harness/ptx/exec.h"

/* Is this item to be followed, although no race can be on it? With options.footprint: what the
 * launch's parameters point into, and the program's variables. An allocation that a kernel finds by
 * a pointer in memory is followed only where it may be written. */
bool footprint_wants(const struct run *run, const struct ptx_memory *item);

void footprint_collect(struct ptx_result *result, const struct run *run);

#endif
