/* What one block of an asynchronous kernel did, step by step: the events that the Timeline pane's
 * picture of the pipeline is drawn from.
 *
 * A struct timeline belongs to the worker that runs the traced block; the events go to the caller's
 * result. Time is program progress: warp instructions the block has executed, never seconds.
 *
 * It keeps a bounded number of events and drops the rest. It never touches the kernel's state. */
#ifndef STRIDE_PTX_TIMELINE_H
#define STRIDE_PTX_TIMELINE_H

#include "harness/ptx/exec.h"

enum { TIMELINE_EVENTS = 65536 };

struct timeline {
    struct ptx_event *events;
    size_t count, capacity;
};

/* Is this block the one to be traced? */
bool timeline_wants(const struct block *block);

/* Adds an event of this warp, at the block's present step; fields of `event` that are not known
 * stay zero. Does nothing for blocks that are not traced. */
void timeline_add(struct warp *w, struct ptx_event event);

#endif
