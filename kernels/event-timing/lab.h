/* What the lab gives you. Your code gets it with #include "lab.h"; read it,
 * but change nothing: Stride uses its own copy.
 *
 * The kernel is given: c[i] = a[i] + 3 b[i] for n doubles, all on the
 * device. Its answer interests nobody here. How long does one launch take,
 * and how many bytes does it move in a second?
 *
 * Stride compares your two numbers with what the solution says in the same
 * process about the same n. They may differ by half, plus 3 microseconds:
 * others may use the GPU, too. The mistakes that this lab is about are off
 * by far more. */
#ifndef STRIDE_LAB_EVENT_TIMING_H
#define STRIDE_LAB_EVENT_TIMING_H

#include <stddef.h>

/* What your functions and Stride share. */
struct EventTimingWork {
    size_t n;                    /* doubles in each of the three arrays */
    double milliseconds;         /* yours: what one launch takes */
    double gigabytes_per_second; /* yours: 1 GB is 10^9 bytes */
    void *state; /* yours: whatever eventTimingOpen wants to keep */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Once: allocates all there is to allocate. */
void eventTimingOpen(struct EventTimingWork *work);
/* Several times: measures, and fills in the two numbers. */
void eventTimingRun(struct EventTimingWork *work);
/* Once: gives everything back. */
void eventTimingClose(struct EventTimingWork *work);
#ifdef __cplusplus
}
#endif

#endif
