/* What really ran on the GPU and when, told by CUPTI's activity records: kernels, copies, memsets,
 * waits, each with the line that queued it.
 *
 * A struct cupti is the process's only one, opened before the first call of the CUDA runtime makes
 * a context. It owns the library and its buffers; spans are the caller's.
 *
 * Nothing is measured between cupti_stop and cupti_start, so that timed runs are not slowed. */
#ifndef STRIDE_HOST_CUPTI_H
#define STRIDE_HOST_CUPTI_H

#include "span.h"

#include "harness/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct cupti;

/* The libcupti at this path. NULL, with a sentence that can stand as a skipped stage's reason, when
 * it cannot be opened, is too old or is not permitted on this machine. */
struct cupti *cupti_open(const char *path, struct err *err);

/* What happens from now on is recorded. */
bool cupti_start(struct cupti *cupti, struct err *err);

/* Ends recording after the device was waited for, and gives the spans, sorted by time, from 0 on.
 * `line_of` (may be NULL) turns the call site of a span into its line. */
bool cupti_stop(struct cupti *cupti, int (*line_of)(const void *site), struct spans *out,
                struct err *err);

void cupti_close(struct cupti *cupti); /* what was recorded since is lost */

/* Around each call of the student's, on its thread: who called. Cheap while nothing is recorded. */
void cupti_enter(const void *site);
void cupti_leave(void);

#endif
