/* Times a host lab's run against the lab's baseline and solution, all three in the child that
 * checked it, and says "too noisy" when that is the truth.
 *
 * A request borrows everything; the JSON of a result belongs to the caller. The lock that keeps two
 * Strides from timing at once is given back before host_timing_run returns.
 *
 * It never invents a number, and never times without a GPU. */
#ifndef STRIDE_HARNESS_HOST_TIMING_H
#define STRIDE_HARNESS_HOST_TIMING_H

#include "host_child.h"

#include "harness/base/labfile.h"

struct host_timing_request {
    struct host_child *child; /* loaded with all three objects */
    const struct labfile *about;
    const char *uuid;
    double call_ms;          /* of one call of the student's */
    host_listener *listener; /* hears the trace */
    void (*note)(void *context, const char *text);
    void *context;
};

struct host_timing {
    json_t *timing;       /* the record's; NULL when it was skipped or the program failed */
    char skip[1000];      /* why there is none */
    enum verdict verdict; /* PASS, or what the program did while it was timed */
    char summary[1000];
};

/* Times baseline, yours and solution in one child; whatever goes wrong stands in `out`, which
 * host_timing_free frees. */
void host_timing_run(struct host_timing *out, const struct host_timing_request *request);
void host_timing_free(struct host_timing *timing);

#endif
