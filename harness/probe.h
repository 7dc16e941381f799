/* What this machine has: the facts that `stride doctor` shows.
 *
 * Emits one data event; owns nothing afterwards.
 *
 * It opens no GPU context, and needs no GPU: without one it is done at once. */
#ifndef STRIDE_HARNESS_PROBE_H
#define STRIDE_HARNESS_PROBE_H

#include "emit.h"

void probe_run(struct emit *emit, const char *root);

#endif
