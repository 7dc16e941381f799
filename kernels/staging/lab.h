/* What the lab gives you. Your code gets it with #include "lab.h"; read it,
 * but change nothing: Stride uses its own copy.
 *
 * A large input lies in ordinary, pageable host memory, as it came from a
 * file or a library, and has to go to the device:
 *
 *     input   | piece 0 | piece 1 | piece 2 | ...        | p |  pageable
 *                  |         |         |
 *     pinned     buffer 0  buffer 1  buffer 0  ...
 *                  |         |         |
 *     device  | piece 0 | piece 1 | piece 2 | ...        | p |
 *
 * There a given kernel makes one checksum of every kStagingBlock numbers;
 * these come back, so that Stride sees what arrived. */
#ifndef STRIDE_LAB_STAGING_H
#define STRIDE_LAB_STAGING_H

#include <stddef.h>
#include <stdint.h>

#define kStagingBlock 4096 /* numbers in a checksum */

/* What your functions and Stride share. */
struct StagingWork {
    size_t n;      /* numbers in input; any number from 1 on */
    size_t piece;  /* numbers in a piece; the last piece may have fewer */
    size_t blocks; /* checksums: n / kStagingBlock, rounded up */
    const uint32_t *input; /* on the host, pageable, Stride's */
    uint32_t *sums; /* on the host: stagingOpen allocates, Stride reads */
    void *state;    /* yours: whatever stagingOpen wants to keep */
};

#ifdef __cplusplus
extern "C" {
#endif
/* Once, not timed: allocates all there is to allocate. */
void stagingOpen(struct StagingWork *work);
/* Timed, several times, each time with other numbers in input. Stride waits
 * for the device behind it, and times that, too: work may still be under
 * way when it returns. */
void stagingRun(struct StagingWork *work);
/* Once, not timed: gives everything back. */
void stagingClose(struct StagingWork *work);
#ifdef __cplusplus
}
#endif

#endif
