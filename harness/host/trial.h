/* Runs the student's object beside the solution's, size by size and round by round, and says what
 * is wrong with it: docs/host-labs.md has the verdicts.
 *
 * A struct trial is the process's only one and borrows the lab and the objects. What is found is
 * told (tell.h) as it is found.
 *
 * It times nothing: timed.h does. */
#ifndef STRIDE_HOST_TRIAL_H
#define STRIDE_HOST_TRIAL_H

#include "object.h"
#include "runtime.h"

struct trial {
    const struct host_lab *lab;
    const struct runtime *runtime;
    bool simulated;
    struct object solution, yours, baseline; /* baseline: handle NULL when there is none */
    uint64_t seed;
    bool yours_ran;  /* once; what fails from then on is its doing */
    json_t *hazards; /* of all cases, each kind and pair of lines once */
};

/* Checks every size and ends with tell_end. */
void trial_check(struct trial *trial, const uint64_t *sizes, size_t count);

/* ---- shared with timed.c */

struct side { /* one object at work */
    const struct object *object;
    void *work;
    bool opened;
};

/* Prepares and opens. False: there is no such size. */
bool side_open(struct side *side, const struct trial *trial, const struct object *object,
               uint64_t n);
void side_close(struct side *side, const struct trial *trial);

/* The first failed call of the log, or `after` (a code that Stride's own wait got behind the
 * function `name`), as the record's fault. NULL when nothing failed. */
json_t *trial_fault(const char *name, int after);

/* Its text, with its line in front. */
void trial_fault_sentence(const json_t *fault, char *out, size_t len);

#endif
