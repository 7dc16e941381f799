/* The stages of one job, in order, each told to the reader as it happens.
 *
 * Borrows everything; what a stage makes lives until stages_run returns.
 *
 * What the student causes ends in a verdict; what the machine lacks ends in a skipped stage. */
#ifndef STRIDE_HARNESS_STAGES_H
#define STRIDE_HARNESS_STAGES_H

#include "emit.h"
#include "warm.h"
#include "work.h"

/* Does the job and emits everything up to `end`. False when the GPU is lost: the process then has
 * to leave with _exit, and nothing may be closed. */
bool stages_run(struct warm *warm, const struct work *work, struct emit *emit);

#endif
