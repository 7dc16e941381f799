/* What the lab gives you. Your kernel gets it with #include "lab.h"; read
 * it, but change nothing: Stride uses its own copy.
 *
 * The shape is fixed: a block of 256 threads works through 32 tiles of 1,024
 * floats, one after the other, and N is always a multiple of 32,768. Each
 * block is launched with 96 KiB of dynamic shared memory, room for 24 tiles:
 *
 *     extern __shared__ __align__(128) float tiles[];
 *
 * That leaves room for two blocks on a multiprocessor of an H200, and for one
 * on smaller cards, as with the matrix products later in the course.
 *
 * output[i] must become stagesTransform(input[i]) for every i. */
#ifndef STRIDE_LAB_MULTI_STAGE_H
#define STRIDE_LAB_MULTI_STAGE_H

#ifdef __CUDACC__
#define LAB_DEVICE                __device__ __forceinline__
#define LAB_CONSTANT(name, value) constexpr int name = value
#else /* Stride itself is C and gets its right answers from this file too */
#include <math.h>
#define LAB_DEVICE                static inline
#define LAB_CONSTANT(name, value) enum { name = value }
#endif

LAB_CONSTANT(kStagesThreadsPerBlock, 256);
LAB_CONSTANT(kStagesTileElements, 1024); /* four floats for each thread */
LAB_CONSTANT(kStagesTilesPerBlock, 32);
LAB_CONSTANT(kStagesElementsPerBlock, 32768);
LAB_CONSTANT(kStagesSharedBytes, 98304);

/* One element's arithmetic: a chain of 16 steps; each waits for the one before. */
LAB_DEVICE float stagesTransform(float x)
{
    for (int step = 0; step < 16; ++step)
        x = fmaf(x, 0.9921875f, 0.0078125f);
    return x;
}

#endif
