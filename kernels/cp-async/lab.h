/* What the lab gives you. Your kernel gets it with #include "lab.h"; read
 * it, but change nothing: Stride uses its own copy.
 *
 * The shape is fixed: a block of 256 threads works through four tiles of
 * 1,024 floats, one after the other. N / 4096 blocks cover N elements, and
 * N is always a multiple of 4,096.
 *
 *     input  | tile 0 | tile 1 | tile 2 | tile 3 | tile 0 | tile 1 | ...
 *            |<----------- block 0 ------------->|<---- block 1 ---- ...
 *
 * output[i] must become asyncTransform(input[i]) for every i. */
#ifndef STRIDE_LAB_CP_ASYNC_H
#define STRIDE_LAB_CP_ASYNC_H

#ifdef __CUDACC__
#define LAB_DEVICE                __device__ __forceinline__
#define LAB_CONSTANT(name, value) constexpr int name = value
#else /* Stride itself is C and gets its right answers from this file too */
#include <math.h>
#define LAB_DEVICE                static inline
#define LAB_CONSTANT(name, value) enum { name = value }
#endif

LAB_CONSTANT(kAsyncThreadsPerBlock, 256);
LAB_CONSTANT(kAsyncTileElements, 1024); /* four floats for each thread */
LAB_CONSTANT(kAsyncTilesPerBlock, 4);
LAB_CONSTANT(kAsyncElementsPerBlock, 4096);

#ifndef kAsyncTransformSteps
#define kAsyncTransformSteps 32
#endif

/* One element's arithmetic: a chain; each step waits for the one before. */
LAB_DEVICE float asyncTransform(float x)
{
    for (int step = 0; step < kAsyncTransformSteps; ++step)
        x = fmaf(x, 0.9921875f, 0.0078125f);
    return x;
}

#endif
