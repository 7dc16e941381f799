/* Runs for the clock on a GPU: baseline, yours and solution in any order, the bus's own limit, and
 * one run under CUPTI for the timeline.
 *
 * A struct timed borrows the trial and owns what it opened until timed_close.
 *
 * It decides nothing: how many rounds, and what they say, is stride-harness's. */
#ifndef STRIDE_HOST_TIMED_H
#define STRIDE_HOST_TIMED_H

#include "cupti.h"
#include "trial.h"

enum { TIMED_BASELINE, TIMED_YOURS, TIMED_SOLUTION, TIMED_KINDS };

struct timed {
    struct trial *trial;
    struct cupti *cupti; /* NULL: no_cupti says why */
    char no_cupti[768];
    struct side sides[TIMED_KINDS];
    uint64_t n;
    unsigned repeat; /* runs for one sample, so that short ones can be measured */
};

/* Each ends with tell_end. */
void timed_open(struct timed *timed, uint64_t n);
void timed_round(struct timed *timed,
                 const int order[TIMED_KINDS]); /* tells {"times":[..]} in ms */
void timed_check(struct timed *timed);          /* on inputs not used before */
void timed_limit(struct timed *timed); /* tells {"limit":GB/s}: pinned copies both ways at once */
void timed_trace(struct timed *timed); /* tells timeline and metrics, or {"no_trace":why} */
void timed_close(struct timed *timed);

#endif
