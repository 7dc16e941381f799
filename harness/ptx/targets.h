/* Which allocations a kernel may write, found in its code before it runs: what it only reads needs
 * no shadow.
 *
 * Follows each pointer among the parameters through the arithmetic to the addresses of stores,
 * atomics and bulk copies. Where that is not enough (a pointer that comes out of memory, a call,
 * a pointer to no allocation) everything may be written.
 *
 * It owns nothing, and looks at no data but the parameters. */
#ifndef STRIDE_PTX_TARGETS_H
#define STRIDE_PTX_TARGETS_H

#include "harness/ptx/exec.h"

/* May the launch write run->map.items[i]? One answer per item, in `out`. Variables of the module
 * always count as written. */
void targets_find(const struct run *run, bool *out);

#endif
