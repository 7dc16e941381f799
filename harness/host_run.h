/* What one child of a host lab's attempt had to say: it is loaded, checks its sizes, and is
 * listened to.
 *
 * A struct host_run owns its child and all that is remembered of what it said. The attempt's answer
 * gets the cases at once; hazards and measures wait until the attempt knows what they mean.
 *
 * It judges nothing: the child's outcome is a verdict already, and what becomes of it is
 * host_stages.c's. */
#ifndef STRIDE_HARNESS_HOST_RUN_H
#define STRIDE_HARNESS_HOST_RUN_H

#include "answer.h"
#include "host_build.h"
#include "host_child.h"
#include "host_warm.h"

/* Of one call of the student's functions; the reader's own deadlines (docs/record.md) are a little
 * longer: it should hear the reason. */
#define HOST_RUN_CALL_MS 9000.0

struct host_run {
    struct host_child child;
    struct host_outcome outcome;
    json_t *metrics, *timeline, *hazards; /* NULL: none */
    json_t *fault;                        /* of the first case that has one */
    bool ran, all_cases;                  /* else only cases that found something are told */
    char no_trace[512];                   /* why CUPTI has no timeline */
    char unknown[160];                    /* a function that the simulator does not know */
    struct answer *answer;
};

struct host_run_request {
    struct host_warm *warm;
    struct answer *answer;
    const struct host_build *yours;
    bool baseline; /* is loaded too, where it builds */
    bool gpu;
    const uint64_t *sizes;
    size_t size_count;
    double deadline_ms; /* of all cases */
};

/* Loads the objects in a fresh child and checks the sizes. False: there is no child; err says why.
 */
bool host_run_check(struct host_run *run, const struct host_run_request *request, struct err *err);

/* Hears a line of the child's; `context` is the run. */
void host_run_hear(void *context, const json_t *event);

void host_run_free(struct host_run *run);

#endif
