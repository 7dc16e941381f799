#include "harness/ptx/timeline.h"

#include "harness/ptx/hazard.h"

#include <string.h>

bool timeline_wants(const struct block *block)
{
    const struct ptx_options *options = &block->worker->run->launch->options;
    return options->trace && options->trace_block == block->index;
}

void timeline_begin(struct block *block)
{
    struct timeline *timeline = &block->worker->hazard->timeline;
    for (uint32_t i = 0; i < block->warp_count; i++)
        timeline->ahead[i] = -block->warps[i].steps; /* they count on from block to block */
}

uint64_t timeline_now(const struct warp *w)
{
    return w->worker->hazard->timeline.ahead[w->id] + warp_clock(w);
}

void timeline_wait(struct warp *w, uint64_t time)
{
    uint64_t now = timeline_now(w);
    if (time > now)
        w->worker->hazard->timeline.ahead[w->id] += time - now;
}

void timeline_add(struct warp *w, struct ptx_event event)
{
    if (!timeline_wants(w->block))
        return;
    struct timeline *timeline = &w->worker->hazard->timeline;
    if (timeline->count == TIMELINE_EVENTS)
        return;
    if (timeline->count == timeline->capacity) {
        timeline->capacity = timeline->capacity ? 2 * timeline->capacity : 256;
        timeline->events = mem_grow(timeline->events, timeline->capacity, sizeof *timeline->events);
    }
    event.warp = w->id;
    event.step = timeline_now(w);
    timeline->events[timeline->count++] = event;
}
