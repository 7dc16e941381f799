/* What the simulated runtime found, in the record's words (docs/record.md). */
#include "sim.h"

#include "kernel_json.h"
#include "sim_guard.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"
#include "harness/base/msg.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HAZARDS = 64, MOST_SPANS = 200000, MOST_OUTPUT = 256 << 10 };

struct sim_found {
    json_t *hazards;
    struct spans spans;
    char cannot[320], fault[320], fault_kind[32];
    int fault_line;
    struct ptx_counters counters;
    bool counted;
    struct buf output;
};

static struct sim_found found;

void report_open(void)
{
    json_decref(found.hazards);
    spans_free(&found.spans);
    buf_free(&found.output);
    found = (struct sim_found){.output = {.cap = MOST_OUTPUT}};
    sim.found = &found;
}

void report_cannot(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!*found.cannot)
        vsnprintf(found.cannot, sizeof found.cannot, format, args);
    va_end(args);
}

/* ---- hazards */

static json_t *known_hazard(const char *kind, int line, int other_line)
{
    size_t i;
    json_t *h;
    json_array_foreach(found.hazards, i, h) {
        if (!strcmp(json_string_value(json_object_get(h, "kind")), kind) &&
            json_integer_value(json_object_get(h, "line")) == line &&
            json_integer_value(json_object_get(h, "other_line")) == other_line)
            return h;
    }
    return NULL;
}

/* One entry for each kind and pair of lines; the first keeps its sentence. */
static json_t *add_hazard(const char *kind, int line, int other_line, uint64_t count,
                          const char *text)
{
    json_t *known = known_hazard(kind, line, other_line);
    if (!found.hazards)
        found.hazards = json_array();
    if (known) {
        json_int_t old = json_integer_value(json_object_get(known, "count"));
        json_object_set_new(known, "count", json_integer(old + (json_int_t)count));
        return NULL;
    }
    if (json_array_size(found.hazards) >= MOST_HAZARDS)
        return NULL;
    json_t *h = json_object();
    json_object_set_new(h, "kind", json_string(kind));
    json_object_set_new(h, "line", json_integer(line));
    if (other_line)
        json_object_set_new(h, "other_line", json_integer(other_line));
    json_object_set_new(h, "count", json_integer((json_int_t)count));
    json_object_set_new(h, "text", json_string(text));
    json_array_append_new(found.hazards, h);
    return h;
}

void report_hazard(const char *kind, int line, int other_line, const char *text)
{
    add_hazard(kind, line, other_line, 1, text);
}

void report_unordered(int line, int other_line, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_hazard("unordered", line, other_line, 1, text);
}

/* ---- spans */

static struct span *new_span(enum span_kind kind, double from_us, double to_us, const char *name)
{
    struct span span = {.kind = kind, .from_us = from_us, .to_us = to_us};
    if (found.spans.count >= MOST_SPANS)
        return NULL;
    snprintf(span.name, sizeof span.name, "%s", name);
    spans_add(&found.spans, &span);
    return &found.spans.items[found.spans.count - 1];
}

void report_wait(double from_us, double to_us, const char *what, int line)
{
    struct span *span = new_span(SPAN_WAIT, from_us, to_us, what);
    if (!span)
        return;
    span->stream = SPAN_HOST_ROW;
    span->line = line;
}

void report_span(enum span_kind kind, const struct op *op, double from_us, double to_us,
                 const char *name)
{
    struct span *span = new_span(kind, from_us, to_us, name);
    if (!span)
        return;
    span->stream = op->stream->number;
    span->graph = op->graph;
    span->line = op->work.line;
    if (op->work.kind == WORK_COPY) {
        span->bytes = op->work.copy.width * op->work.copy.rows;
        span->pageable = op->work.copy.pageable;
    } else if (op->work.kind == WORK_SET) {
        span->bytes = op->work.set.width * op->work.set.rows;
    }
}

/* ---- launches */

static int student_line(const struct op *op, uint32_t line)
{
    const struct ptx_module *ptx = op->work.launch.kernel->program->ptx;
    const char *source = sim.options.source ? sim.options.source : "kernel.cu";
    return (int)ptx->lines[ptx_line_in_file(ptx, line, source)].line;
}

static void note_fault(const struct op *op, const struct ptx_result *result)
{
    if (result->status == PTX_UNSUPPORTED) {
        report_cannot("%s", result->message);
        return;
    }
    if (*found.fault)
        return;
    const struct memory *freed =
        result->fault == PTX_FAULT_BOUNDS ? memory_at(result->fault_address) : NULL;
    found.fault_line = student_line(op, result->line);
    snprintf(found.fault_kind, sizeof found.fault_kind, "%s",
             result->status == PTX_FAULT ? kernel_json_fault(result->fault) : "timed-out");
    if (freed && (freed->freed || freed->dormant) && freed->freed_line)
        snprintf(found.fault, sizeof found.fault,
                 _("kernel %s uses %s, which was given back in line %d"),
                 op->work.launch.kernel->label, freed->name, freed->freed_line);
    else
        snprintf(found.fault, sizeof found.fault, _("kernel %s, launched in line %d: %.200s"),
                 op->work.launch.kernel->label, op->work.line, result->message);
}

static void add_kernel_hazard(const struct op *op, const struct ptx_hazard *h)
{
    json_t *object = add_hazard(ptx_hazard_name(h->kind), student_line(op, h->line),
                                student_line(op, h->other_line), h->count, h->text);
    if (object)
        kernel_json_add_place(object, h, op->work.launch.block);
}

static void add_counters(const struct ptx_counters *c)
{
    struct ptx_counters *sum = &found.counters;
    found.counted = true;
    sum->warp_instructions += c->warp_instructions;
    sum->thread_instructions += c->thread_instructions;
    for (unsigned k = 0; k < PTX_KIND_COUNT; k++)
        sum->by_kind[k] += c->by_kind[k];
    sum->flops += c->flops;
    sum->global_load_requests += c->global_load_requests;
    sum->global_load_sectors += c->global_load_sectors;
    sum->global_load_bytes += c->global_load_bytes;
    sum->global_store_requests += c->global_store_requests;
    sum->global_store_sectors += c->global_store_sectors;
    sum->global_store_bytes += c->global_store_bytes;
    sum->shared_wavefronts += c->shared_wavefronts;
    sum->shared_ideal_wavefronts += c->shared_ideal_wavefronts;
    sum->async_bytes += c->async_bytes;
    sum->divergent_branches += c->divergent_branches;
}

void report_launch(const struct op *op, const struct ptx_result *result)
{
    for (size_t i = 0; i < result->hazard_count; i++)
        add_kernel_hazard(op, &result->hazards[i]);
    add_counters(&result->counters);
    if (result->status != PTX_DONE)
        note_fault(op, result);
    if (result->output.len)
        clean_text(&found.output, buf_str(&result->output), result->output.len);
}

/* ---- taking it */

/* Each report numbers its streams from 1, whichever were used before. */
static void number_anew(void)
{
    for (struct stream *stream = sim.streams; stream; stream = stream->next)
        if (!stream->legacy)
            stream->number = UINT32_MAX;
    sim.next_number = 0;
}

void sim_take_report(struct sim_report *out)
{
    host_function_over();
    sim_lock();
    capture_abandon();
    sim_finish_all(NULL, 0); /* a wait of ours, not of the student's */
    *out = (struct sim_report){
        .hazards = found.hazards ? found.hazards : json_array(),
        .spans = found.spans,
        .fault_line = found.fault_line,
        .counters = found.counted ? kernel_json_counters(&found.counters) : NULL,
        .output = buf_take(&found.output),
    };
    snprintf(out->cannot, sizeof out->cannot, "%s", found.cannot);
    snprintf(out->fault, sizeof out->fault, "%s", found.fault);
    snprintf(out->fault_kind, sizeof out->fault_kind, "%s", found.fault_kind);
    found = (struct sim_found){.output = {.cap = MOST_OUTPUT}};
    guard_take(out->hazards);
    number_anew();
    sim_unlock();
}

void sim_report_free(struct sim_report *report)
{
    json_decref(report->hazards);
    json_decref(report->counters);
    spans_free(&report->spans);
    free(report->output);
    *report = (struct sim_report){0};
}
