/* The stages of one job of a host lab, as stages.h has them for a kernel lab.
 *
 * Borrows everything; what a stage makes lives until host_stages_run returns.
 *
 * The student's object never comes into this process. */
#ifndef STRIDE_HARNESS_HOST_STAGES_H
#define STRIDE_HARNESS_HOST_STAGES_H

#include "emit.h"
#include "host_warm.h"
#include "work.h"

/* Does the job and tells its reader, up to `end`. */
void host_stages_run(struct host_warm *warm, const struct work *work, struct emit *emit);

#endif
