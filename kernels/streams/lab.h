/* What the lab gives you. Your code gets it with #include "lab.h"; read it,
 * but change nothing: Stride uses its own copy.
 *
 * There are n random number generators, each of them one 32-bit number.
 * Every one has to make kStreamsSteps steps:
 *
 *     host    input[0..n)                            output[0..n)
 *                 |                                       ^
 *                 | copy to the device                    | copy back
 *                 v                                       |
 *     device      ..... advance, kStreamsSteps steps .....
 *
 * The arithmetic takes about as long as one of the copies on a large GPU. */
#ifndef STRIDE_LAB_STREAMS_H
#define STRIDE_LAB_STREAMS_H

#include <stddef.h>
#include <stdint.h>

#ifndef kStreamsSteps
#define kStreamsSteps 1024
#endif
#define kStreamsMultiplier 1664525u
#define kStreamsIncrement  1013904223u

/* What your functions and Stride share. */
struct StreamsWork {
    size_t n;         /* how many numbers; any number from 1 on */
    uint32_t *input;  /* on the host: streamsOpen allocates, Stride fills */
    uint32_t *output; /* on the host: streamsOpen allocates, Stride reads */
    void *state;      /* yours: whatever streamsOpen wants to keep */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Once, not timed: allocates all there is to allocate. */
void streamsOpen(struct StreamsWork *work);
/* Timed, several times, each time with other numbers in input. Stride waits
 * for the device behind it, and times that, too: work may still be under
 * way when it returns. */
void streamsRun(struct StreamsWork *work);
/* Once, not timed: gives everything back. */
void streamsClose(struct StreamsWork *work);
#ifdef __cplusplus
}
#endif

#ifdef __CUDACC__
/* The steps of one generator; each needs the one before. The two constants
 * come in as arguments, or the compiler would work the loop out in advance. */
__device__ __forceinline__ uint32_t streamsAdvance(uint32_t x,
                                                   uint32_t multiplier,
                                                   uint32_t increment)
{
    for (int step = 0; step < kStreamsSteps; ++step)
        x = x * multiplier + increment;
    return x;
}
#endif

#endif
