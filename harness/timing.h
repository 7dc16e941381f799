/* Times a kernel that passed its check against the lab's baseline and solution, in one process and
 * interleaved, and says "too noisy" when that is the truth.
 *
 * A request borrows everything it points at, the images too; the JSON of a result belongs to the
 * caller. Device memory and the lock that keeps two Strides from timing at once are given back
 * before timing_run returns.
 *
 * It never invents a number: what could not be measured is absent, with the reason in `skip` or in
 * the record's `why`. */
#ifndef STRIDE_HARNESS_TIMING_H
#define STRIDE_HARNESS_TIMING_H

#include "harness/backend.h"
#include "harness/base/labfile.h"
#include "harness/lab.h"
#include "harness/peer.h"

#define TIMING_BUDGET_MS 1000.0

struct timing_request {
    struct backend *gpu; /* of gpu_open */
    const struct lab *lab;
    const struct labfile *about; /* entry, time_size, limit and goal */
    const struct image *yours, *baseline, *solution;
    const struct image *limits; /* kernels/limits.cu compiled; NULL leaves the limit out */
    struct peer_places peers;   /* what may stand beside the lab's kernel */
    uint64_t seed;
    double budget_ms; /* 0 takes TIMING_BUDGET_MS */
    /* Progress for the eye, e.g. "another Stride is timing on this GPU". May be NULL. */
    void (*note)(void *context, const char *text);
    void *context;
};

struct timing_result {
    json_t *timing; /* the record's `timing`; NULL when it was skipped or the kernel failed */
    char skip[512]; /* why there is no timing, "" when there is one */
    enum verdict
        verdict;       /* PASS, or what the kernel did in a timed launch: WRONG, FAULT, TIMED_OUT */
    char summary[512]; /* a sentence for either: "1.41x, 97 % of the solution" */
    json_t *failed_case; /* an entry for the record's `cases` when verdict is not PASS; else NULL */
    bool poisoned;       /* as in struct check_result */
};

/* False only when Stride or the machine failed. */
bool timing_run(struct timing_result *out, const struct timing_request *request, struct err *err);
void timing_result_free(struct timing_result *result);

#endif
