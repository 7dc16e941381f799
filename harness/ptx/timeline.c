#include "harness/ptx/timeline.h"

#include "harness/ptx/hazard.h"

bool timeline_wants(const struct block *block)
{
    const struct ptx_options *options = &block->worker->run->launch->options;
    return options->trace && options->trace_block == block->index;
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
    event.step = block_clock(w);
    timeline->events[timeline->count++] = event;
}
