/* What one block of an asynchronous kernel did, step by step: the events that the Timeline pane's
 * picture of the pipeline is drawn from.
 *
 * A struct timeline belongs to the worker that runs the traced block; the events go to the caller's
 * result. Time is program progress, never seconds: each warp counts its own instructions, as if all
 * of them ran side by side, and who waits for others goes on at the latest one's time.
 *
 * It keeps a bounded number of events and drops the rest. It never touches the kernel's state. */
#ifndef STRIDE_PTX_TIMELINE_H
#define STRIDE_PTX_TIMELINE_H

#include "harness/ptx/exec.h"

enum { TIMELINE_EVENTS = 65536 };

struct timeline {
    struct ptx_event *events;
    size_t count, capacity;
    uint64_t ahead[32]; /* per warp: its time minus the instructions it has executed */
};

/* Is this block the one to be traced? */
bool timeline_wants(const struct block *block);

/* Starts a block: every warp at time 0. */
void timeline_begin(struct block *block);

/* The warp's time. */
uint64_t timeline_now(const struct warp *w);

/* The warp goes on at `time`, if it is not later already. */
void timeline_wait(struct warp *w, uint64_t time);

/* Adds an event of this warp, at its time; fields of `event` that are not known stay zero. Does
 * nothing for blocks that are not traced. */
void timeline_add(struct warp *w, struct ptx_event event);

#endif
