/* What one case of the student's object came to, and everything that can be wrong with it beside
 * its answers: calls that failed, hazards, what was not given back.
 *
 * A struct found owns its JSON until it is told. Hazards of all cases are kept in the trial.
 *
 * It calls no function of the student's. */
#ifndef STRIDE_HOST_FOUND_H
#define STRIDE_HOST_FOUND_H

#include "trial.h"

struct found {
    enum verdict verdict;
    char text[768];
    json_t *fault, *mismatch;
    double max_error, tolerance;
    bool lost; /* nothing more can run in this process */
    bool solution_failed;
};

/* A verdict that explains more replaces the one that is there, with its sentence. */
void found_worsen(struct found *found, enum verdict verdict, const char *text);

/* After each call of the student's function `name`: waits for the device and notes what failed.
 * `spans` (may be NULL) gets those of the simulated runtime. */
void found_inspect(struct trial *trial, struct found *found, uint64_t n, const char *name,
                   struct spans *spans);

/* After each call of the lab's own functions: what they left in the log and in the report is
 * nobody's business, but that they failed is. `after_yours` names the student's function that ran
 * since they last did not fail; NULL when it is the first time. */
void found_discard(struct trial *trial, struct found *found, const char *after_yours);

/* After close: what the student's object created and still has. */
void found_leaks(struct trial *trial, struct found *found, uint64_t n);

#endif
