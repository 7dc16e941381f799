/* Which bytes of global memory a launch read and wrote, from the shadow that global.h keeps anyway.
 *
 * The ranges belong to the result.
 *
 * It is as fine as the shadow: 4-byte words. Constant and local memory are not in it. */
#ifndef STRIDE_PTX_FOOTPRINT_H
#define STRIDE_PTX_FOOTPRINT_H

#include "harness/ptx/exec.h"

void footprint_collect(struct ptx_result *result, const struct run *run);

#endif
