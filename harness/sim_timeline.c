/* The step view: one block's copies, waits and barriers over its progress. A row for each buffer
 * that copies go to, one for barriers, one for the rest; waits and hazards are marks. */
#include "harness/sim.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMELINE_MOST_SPANS = 400 };

struct span {
    uint64_t from, to;
    uint32_t group, line, bytes;
    uint32_t address; /* lowest destination: which buffer it is */
    bool landed;
};

struct spans {
    struct span *items;
    size_t count, capacity;
};

static struct span *add_span(struct spans *spans)
{
    if (spans->count == spans->capacity) {
        spans->capacity = spans->capacity ? spans->capacity * 2 : 32;
        spans->items = mem_grow(spans->items, spans->capacity, sizeof *spans->items);
    }
    struct span *span = &spans->items[spans->count++];
    *span = (struct span){0};
    return span;
}

/* All warps' copies of one group number are one bar: from the first issue to the last landing. */
static void gather_copies(const struct ptx_result *run, struct spans *copies)
{
    for (size_t i = 0; i < run->event_count; i++) {
        const struct ptx_event *e = &run->events[i];
        if (e->kind != PTX_EVENT_ISSUE && e->kind != PTX_EVENT_LAND)
            continue;
        struct span *span = NULL;
        for (size_t k = copies->count; k-- > 0 && !span;) {
            if (copies->items[k].group == e->group)
                span = &copies->items[k];
        }
        if (!span && copies->count >= TIMELINE_MOST_SPANS)
            continue;
        if (!span) {
            span = add_span(copies);
            *span = (struct span){.from = e->step,
                                  .to = e->step,
                                  .group = e->group,
                                  .line = e->line,
                                  .address = e->address};
        }
        span->from = e->step < span->from ? e->step : span->from;
        span->address = e->address < span->address ? e->address : span->address;
        if (e->kind == PTX_EVENT_ISSUE)
            span->bytes += e->bytes;
        span->landed |= e->kind == PTX_EVENT_LAND;
        span->to = e->step > span->to ? e->step : span->to;
    }
}

/* A barrier is a bar from its first arrival to its release. */
static void gather_barriers(const struct ptx_result *run, struct spans *barriers)
{
    struct span open = {0};
    bool arrived = false;
    for (size_t i = 0; i < run->event_count; i++) {
        const struct ptx_event *e = &run->events[i];
        if (e->kind == PTX_EVENT_ARRIVE && (!arrived || e->step < open.from)) {
            open = (struct span){.from = e->step, .line = e->line};
            arrived = true;
        }
        if (e->kind != PTX_EVENT_RELEASE || !arrived || barriers->count >= TIMELINE_MOST_SPANS)
            continue;
        open.to = e->step > open.from ? e->step : open.from;
        *add_span(barriers) = open;
        arrived = false;
    }
}

static json_t *span_json(const struct backend_module *module, const struct span *span,
                         const char *kind, const char *label)
{
    return json_pack("{s:s, s:I, s:I, s:s, s:i}", "kind", kind, "from", (json_int_t)span->from,
                     "to", (json_int_t)span->to, "label", label, "line",
                     sim_line(module, span->line));
}

enum { COPY_ROWS = 8 };

/* One row per buffer, as the lesson's figure has it; by time where there are too many of them. */
static unsigned row_of(const struct span *span, json_t *const row_spans[COPY_ROWS],
                       const uint32_t address[COPY_ROWS], const uint64_t busy_until[COPY_ROWS])
{
    unsigned row = 0;
    while (row < COPY_ROWS && row_spans[row] && address[row] != span->address)
        row++;
    if (row < COPY_ROWS)
        return row;
    for (row = 0; row < COPY_ROWS - 1 && busy_until[row] > span->from;)
        row++;
    return row;
}

static void add_copy_rows(json_t *rows, const struct backend_module *module,
                          const struct spans *copies)
{
    uint64_t busy_until[COPY_ROWS] = {0};
    uint32_t address[COPY_ROWS] = {0};
    json_t *row_spans[COPY_ROWS] = {0};
    for (size_t i = 0; i < copies->count; i++) {
        const struct span *span = &copies->items[i];
        unsigned row = row_of(span, row_spans, address, busy_until);
        if (!row_spans[row]) {
            char name[32];
            snprintf(name, sizeof name, _("copies %u"), row + 1);
            row_spans[row] = json_array();
            address[row] = span->address;
            json_array_append_new(rows,
                                  json_pack("{s:s, s:o}", "name", name, "spans", row_spans[row]));
        }
        char label[64];
        snprintf(label, sizeof label, _("group %u, %u bytes"), span->group, span->bytes);
        json_array_append_new(row_spans[row],
                              span_json(module, span, span->landed ? "copy" : "lost", label));
        busy_until[row] = span->to;
    }
}

static void add_barrier_row(json_t *rows, const struct backend_module *module,
                            const struct spans *barriers, uint64_t end)
{
    json_t *waits = json_array(), *work = json_array();
    uint64_t at = 0;
    for (size_t i = 0; i < barriers->count; i++) {
        const struct span *b = &barriers->items[i];
        /* Until the last warp has arrived somebody is still at work */
        struct span phase = {.from = at, .to = b->to, .line = b->line};
        char label[48];
        snprintf(label, sizeof label, _("until line %d"), sim_line(module, b->line));
        if (phase.to > phase.from)
            json_array_append_new(work, span_json(module, &phase, "compute", label));
        json_array_append_new(waits, span_json(module, b, "barrier", _("barrier")));
        at = b->to;
    }
    struct span rest = {.from = at, .to = end};
    if (end > at)
        json_array_append_new(work, span_json(module, &rest, "compute", ""));
    json_array_append_new(rows, json_pack("{s:s, s:o}", "name", _("barriers"), "spans", waits));
    json_array_append_new(rows, json_pack("{s:s, s:o}", "name", _("work"), "spans", work));
}

static json_t *marks_json(const struct backend_module *module, const struct ptx_result *run)
{
    json_t *marks = json_array();
    for (size_t i = 0; i < run->event_count && json_array_size(marks) < TIMELINE_MOST_SPANS; i++) {
        const struct ptx_event *e = &run->events[i];
        char text[160];
        if (e->kind == PTX_EVENT_WAIT && e->warp == 0)
            snprintf(text, sizeof text,
                     e->value == 0   ? _("line %d: wait until no group is in flight")
                     : e->value == 1 ? _("line %d: wait until at most 1 group is in flight")
                                     : _("line %d: wait until at most %u groups are in flight"),
                     sim_line(module, e->line), e->value);
        else if (e->kind == PTX_EVENT_HAZARD && e->value < run->hazard_count &&
                 !run->hazards[e->value].if_used)
            snprintf(text, sizeof text, _("line %d: %s"), sim_line(module, e->line),
                     ptx_hazard_name(run->hazards[e->value].kind));
        else
            continue;
        json_array_append_new(marks, json_pack("{s:I, s:s, s:s}", "at", (json_int_t)e->step, "row",
                                               e->kind == PTX_EVENT_WAIT ? "wait" : "hazard",
                                               "text", text));
    }
    return marks;
}

json_t *sim_timeline(const struct backend_module *module, const struct ptx_result *run)
{
    if (!run->event_count)
        return NULL;
    struct spans copies = {0}, barriers = {0};
    gather_copies(run, &copies);
    gather_barriers(run, &barriers);
    uint64_t end = 0;
    for (size_t i = 0; i < run->event_count; i++)
        end = run->events[i].step > end ? run->events[i].step : end;
    json_t *rows = json_array();
    add_copy_rows(rows, module, &copies);
    add_barrier_row(rows, module, &barriers, end);
    json_t *timeline = json_pack("{s:s, s:o, s:o}", "unit", "steps", "rows", rows, "marks",
                                 marks_json(module, run));
    free(copies.items);
    free(barriers.items);
    return timeline;
}
