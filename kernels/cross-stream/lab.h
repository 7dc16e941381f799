/* What the lab gives you. Your code gets it with #include "lab.h"; read it,
 * but change nothing: Stride uses its own copy.
 *
 * n random number generators make kCrossSteps steps each (kernel A). Then
 * every number is added to the 31 before it (kernel B):
 *
 *     host     input  | piece 0 | piece 1 | piece 2 | ...
 *                          | copy in
 *     device   A     d[i] = input[i], kCrossSteps steps on
 *              B     s[i] = d[i] + d[i-1] + ... + d[i-31]
 *                          | copy out
 *     host     output | piece 0 | piece 1 | piece 2 | ...
 *
 * What lies before d[0] counts as 0. Sums are 32 bits wide and wrap around.
 * A works on a piece alone; B also needs the end of the piece before it. */
#ifndef STRIDE_LAB_CROSS_STREAM_H
#define STRIDE_LAB_CROSS_STREAM_H

#include <stddef.h>
#include <stdint.h>

#ifndef kCrossSteps
#define kCrossSteps 128
#endif
#define kCrossWindow     32 /* numbers in each sum */
#define kCrossMultiplier 1664525u
#define kCrossIncrement  1013904223u

/* What your functions and Stride share. */
struct CrossWork {
    size_t n;         /* how many numbers; any number from 1 on */
    size_t piece;     /* numbers in a piece, kCrossWindow at least; the last
                         piece may have fewer */
    uint32_t *input;  /* on the host: crossOpen allocates, Stride fills */
    uint32_t *output; /* on the host: crossOpen allocates, Stride reads */
    void *state;      /* yours: whatever crossOpen wants to keep */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Once, not timed: allocates all there is to allocate. */
void crossOpen(struct CrossWork *work);
/* Timed, several times, each time with other numbers in input. Stride waits
 * for the device behind it, and times that, too: work may still be under
 * way when it returns. */
void crossRun(struct CrossWork *work);
/* Once, not timed: gives everything back. */
void crossClose(struct CrossWork *work);
#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
/* The steps of one generator; each needs the one before. The two constants
 * are arguments, or the compiler would work the loop out in advance. */
__device__ __forceinline__ uint32_t crossAdvance(uint32_t x,
                                                 uint32_t multiplier,
                                                 uint32_t increment)
{
    for (int step = 0; step < kCrossSteps; ++step)
        x = x * multiplier + increment;
    return x;
}
#endif

#endif
