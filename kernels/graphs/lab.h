/* What the lab gives you. Your code gets it with #include "lab.h"; read it,
 * but change nothing: Stride uses its own copy.
 *
 * n temperatures along a rod, and kGraphsSteps steps in which heat flows
 * between neighbours:
 *
 *     host     input[0..n)
 *                 | copy in
 *     device   step 1 -> step 2 -> ... -> step 40, one launch each
 *                                              | copy out
 *     host     output[0..n)
 *
 * Every step needs all of the one before, so they can't be one launch. With
 * few temperatures a step takes less time than launching it. */
#ifndef STRIDE_LAB_GRAPHS_H
#define STRIDE_LAB_GRAPHS_H

#include <stddef.h>

#ifndef kGraphsSteps
#define kGraphsSteps 40 /* even */
#endif

/* What your functions and Stride share. */
struct GraphsWork {
    size_t n;      /* how many temperatures; any number from 1 on */
    float factor;  /* how fast heat flows, up to 0.5: for this run. Stride
                      sets it before each run, like the input */
    float *input;  /* on the host: graphsOpen allocates, Stride fills */
    float *output; /* on the host: graphsOpen allocates, Stride reads */
    void *state;   /* yours: whatever graphsOpen wants to keep */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Once, not timed: allocates all there is to allocate. work->factor is not
 * known yet. */
void graphsOpen(struct GraphsWork *work);
/* Timed, several times, each time with other temperatures and another
 * factor. Stride waits for the device behind it, and times that, too: work
 * may still be under way when it returns. */
void graphsRun(struct GraphsWork *work);
/* Once, not timed: gives everything back. */
void graphsClose(struct GraphsWork *work);
#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
/* One temperature after a step, from its own and its neighbours'. The rod's
 * ends have one neighbour. */
__device__ __forceinline__ float graphsStep(const float *from, size_t i,
                                            size_t n, float factor)
{
    const float left = from[i ? i - 1 : 0];
    const float right = from[i + 1 < n ? i + 1 : i];
    return from[i] + factor * (left - 2 * from[i] + right);
}
#endif

#endif
