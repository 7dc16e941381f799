#include "found.h"

#include "calls.h"
#include "lines.h"
#include "tell.h"

#include "harness/base/buf.h"
#include "harness/base/json.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE_MOST = 256, IN_CAPTURE = 900 };

void found_worsen(struct found *found, enum verdict verdict, const char *text)
{
    if (found->verdict != VERDICT_PASS && verdict_worse(found->verdict, verdict) == found->verdict)
        return;
    found->verdict = verdict;
    snprintf(found->text, sizeof found->text, "%s", text);
}

static json_t *make_fault(const char *kind, int line, const char *text)
{
    json_t *fault = json_pack("{s:s, s:o}", "kind", kind, "text", json_text(text));
    if (line > 0)
        json_object_set_new(fault, "line", json_integer(line));
    return fault;
}

static json_t *api_fault(const char *call, int line, int code, const char *text)
{
    json_t *fault = make_fault("api-error", line, text);
    json_object_set_new(fault, "code", json_integer(code));
    json_object_set_new(fault, "name", json_text(cuda_error_name(code)));
    if (call)
        json_object_set_new(fault, "call", json_string(call));
    return fault;
}

json_t *trial_fault(const char *name, int after)
{
    struct failed_call failed;
    char text[512];
    if (calls_first_failure(&failed)) {
        int line = lines_of_call(failed.site);
        snprintf(text, sizeof text, _("%s failed with %s: %s"), api_spoken(failed.api),
                 cuda_error_name(failed.result),
                 failed.detail[0] ? failed.detail : cuda_error_meaning(failed.result));
        return api_fault(api_spoken(failed.api), line, failed.result, text);
    }
    if (!after)
        return NULL;
    snprintf(text, sizeof text, _("after %s the device reports %s: %s"), name,
             cuda_error_name(after), cuda_error_meaning(after));
    return api_fault(NULL, 0, after, text);
}

void trial_fault_sentence(const json_t *fault, char *out, size_t len)
{
    const char *text = json_string_value(json_object_get(fault, "text"));
    const json_int_t line = json_integer_value(json_object_get(fault, "line"));
    char at[32] = "";
    if (line)
        snprintf(at, sizeof at, _("line %u: "), (unsigned)line);
    snprintf(out, len, "%s%s", at, text ? text : "");
}

static bool same_hazard(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"kind", "line", "other_line"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
        if ((x || y) && !(x && y && json_equal(x, y)))
            return false;
    }
    return true;
}

static void add_hazard(struct trial *trial, struct found *found, uint64_t n, json_t *hazard)
{
    const char *text = json_string_value(json_object_get(hazard, "text"));
    found_worsen(found, VERDICT_HAZARD, text ? text : "");
    size_t i;
    json_t *known;
    json_array_foreach(trial->hazards, i, known) {
        if (!same_hazard(known, hazard))
            continue;
        json_int_t more = json_integer_value(json_object_get(hazard, "count"));
        json_object_set_new(
            known, "count",
            json_integer(json_integer_value(json_object_get(known, "count")) + (more ? more : 1)));
        json_decref(hazard);
        return;
    }
    if (!json_object_get(hazard, "count"))
        json_object_set_new(hazard, "count", json_integer(1));
    json_object_set_new(hazard, "case_n", json_integer((json_int_t)n));
    json_array_append_new(trial->hazards, hazard);
}

/* The harness's own wait; an error that it meets is not left for the next who asks. */
static int wait_for_device(const struct trial *trial)
{
    int result = trial->runtime->cudaDeviceSynchronize();
    if (result && trial->runtime->cudaGetLastError)
        trial->runtime->cudaGetLastError();
    return result;
}

static void add_open_capture(struct trial *trial, struct found *found, uint64_t n, int line)
{
    char text[320];
    snprintf(text, sizeof text,
             _("the capture that line %d begins is never ended: what was put into the stream since "
               "then is in no graph and never runs"),
             line);
    add_hazard(trial, found, n,
               json_pack("{s:s, s:i, s:s}", "kind", "leak", "line", line, "text", text));
}

/* What nothing orders explains more than that it was not there yet. */
static void add_hazards(struct trial *trial, struct found *found, uint64_t n, const json_t *hazards)
{
    for (int orders = 1; orders >= 0; orders--) {
        size_t i;
        json_t *hazard;
        json_array_foreach(hazards, i, hazard) {
            const char *kind = json_string_value(json_object_get(hazard, "kind"));
            if ((strcmp(kind ? kind : "", "unordered") == 0) == orders)
                add_hazard(trial, found, n, json_incref(hazard));
        }
    }
}

/* A kernel that never ends. */
static void take_endless(struct found *found, const struct sim_report *report)
{
    char text[400];
    if (report->fault_line)
        snprintf(text, sizeof text, _("line %d: %s"), report->fault_line, report->fault);
    else
        snprintf(text, sizeof text, "%s", report->fault);
    found_worsen(found, VERDICT_TIMED_OUT, text);
}

static void take_simulated(struct trial *trial, struct found *found, uint64_t n,
                           struct spans *spans)
{
    struct sim_report report = {0};
    if (!trial->simulated)
        return;
    sim_take_report(&report);
    add_hazards(trial, found, n, report.hazards);
    if (report.fault[0] && strcmp(report.fault_kind, "timed-out") == 0) {
        take_endless(found, &report);
    } else if (report.fault[0]) {
        found_worsen(found, VERDICT_FAULT, report.fault);
        if (!found->fault)
            found->fault = make_fault(report.fault_kind, report.fault_line, report.fault);
    }
    if (report.cannot[0])
        found_worsen(found, VERDICT_CANNOT_RUN, report.cannot);
    if (report.output && *report.output)
        fputs(report.output, stdout);
    if (spans) {
        spans_free(spans);
        *spans = report.spans;
        report.spans = (struct spans){0};
    }
    sim_report_free(&report);
}

void found_inspect(struct trial *trial, struct found *found, uint64_t n, const char *name,
                   struct spans *spans)
{
    const void *capture = calls_open_capture();
    int after = wait_for_device(trial);
    take_simulated(trial, found, n, spans);
    if (calls_missing()) {
        char text[200];
        snprintf(text, sizeof text,
                 trial->simulated
                     ? _("the simulator does not know %s; on a machine with a GPU it would run")
                     : _("the CUDA runtime of this machine has no %s"),
                 calls_missing());
        found_worsen(found, VERDICT_CANNOT_RUN, text);
    }
    /* After a kernel that never ends every call fails, which says nothing new. */
    json_t *fault = found->verdict == VERDICT_TIMED_OUT
                        ? NULL
                        : trial_fault(name, capture && after >= IN_CAPTURE ? 0 : after);
    if (fault) {
        char text[600];
        trial_fault_sentence(fault, text, sizeof text);
        found_worsen(found, VERDICT_FAULT, text);
        if (found->fault)
            json_decref(fault);
        else
            found->fault = fault;
    } else if (capture &&
               found->verdict !=
                   VERDICT_TIMED_OUT) { /* with an error it is only what follows from that */
        add_open_capture(trial, found, n, lines_of_call(capture));
    }
    found->lost = found->lost || (after && !trial->simulated);
}

void found_discard(struct trial *trial, struct found *found, const char *after_yours)
{
    struct found nothing = {.verdict = VERDICT_PASS};
    struct sim_report report = {0};
    int after = wait_for_device(trial);
    json_t *fault = trial_fault(trial->lab->run, after);
    if (trial->simulated) {
        sim_take_report(&report);
        if (report.cannot[0])
            found_worsen(&nothing, VERDICT_CANNOT_RUN, report.cannot);
        sim_report_free(&report);
    }
    if (fault || nothing.text[0]) {
        char why[600] = "", text[700];
        trial_fault_sentence(fault, why, sizeof why);
        const char *reason = fault ? why : nothing.text;
        if (after_yours)
            snprintf(text, sizeof text,
                     _("after %s the lab's own solution does not run any more, so memory that is "
                       "not its own was damaged: %s"),
                     after_yours, reason);
        else
            snprintf(text, sizeof text, _("the lab's own solution could not run here: %s"), reason);
        found_worsen(found, after_yours ? VERDICT_CRASHED : VERDICT_CANNOT_RUN, text);
        found->solution_failed = true;
        json_decref(fault);
    }
    calls_reset();
}

/* ---- what was not given back */

static const char *resource_sentence(enum resource_kind kind)
{
    switch (kind) {
    case RESOURCE_DEVICE_MEMORY:
        return _("device memory allocated at line %d is never freed");
    case RESOURCE_PINNED_MEMORY:
        return _("pinned memory allocated at line %d is never freed");
    case RESOURCE_STREAM:
        return _("the stream created at line %d is never destroyed");
    case RESOURCE_EVENT:
        return _("the event created at line %d is never destroyed");
    case RESOURCE_GRAPH:
        return _("the graph made at line %d is never destroyed");
    default:
        return _("the graph instantiated at line %d is never destroyed");
    }
}

void found_leaks(struct trial *trial, struct found *found, uint64_t n)
{
    struct live_resource *live = mem_zero(LIVE_MOST, sizeof *live);
    size_t count = calls_live(live, LIVE_MOST);
    for (size_t i = 0; i < count && i < LIVE_MOST; i++) {
        if (!lines_inside(live[i].site))
            continue; /* the solution's or the baseline's */
        int line = lines_of_call(live[i].site);
        char text[160];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, resource_sentence(live[i].kind), line);
#pragma GCC diagnostic pop
        add_hazard(
            trial, found, n,
            json_pack("{s:s, s:i, s:o}", "kind", "leak", "line", line, "text", json_text(text)));
    }
    free(live);
}
