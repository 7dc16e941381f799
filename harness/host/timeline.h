/* The record's `timeline` of a host lab (docs/record.md), made of spans: a row per stream, the copy
 * engines, the SMs and the host, and what can be measured in them.
 *
 * Spans are borrowed; JSON that is returned belongs to the caller.
 *
 * It runs nothing and reads no clock: the same spans always give the same timeline. */
#ifndef STRIDE_HOST_TIMELINE_H
#define STRIDE_HOST_TIMELINE_H

#include "span.h"

#include <jansson.h>
#include <stdbool.h>

/* "Work" is what runs on the SMs: kernels, memsets, copies within the device. */
struct timeline_measures {
    double
        length_us; /* from the beginning of the first piece on the device to the end of the last */
    double ideal_us; /* no order of these pieces is shorter; see docs/record.md */
    double overlap;  /* copy_overlap: of the copies' time, the part during which work or a copy of
                        the other direction runs, 0..1; 0 when nothing is copied */
    double work_overlap; /* of the work's time, the part during which a copy runs, 0..1 */
    double h2d_us, d2h_us, work_us; /* how long each engine had something to do */
    unsigned pageable_copies;
    unsigned kernels, copies, graph_launches;
};

/* What the spans say about overlap, and how long each engine was at work. */
void timeline_measure(const struct spans *spans, struct timeline_measures *out);

/* The timeline as an object; NULL when nothing ran. */
json_t *timeline_make(const struct spans *spans, bool virtual_time);

/* Puts rows and measures of another run's timeline beside this one's, as `baseline`. */
void timeline_set_baseline(json_t *timeline, const json_t *baseline);

/* Marks where each hazard (of docs/record.md) lies: at the first piece that either of its lines
 * queued. */
void timeline_mark_hazards(json_t *timeline, const json_t *hazards);

#endif
