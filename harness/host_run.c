#include "host_run.h"

#include "entry.h"

#include "harness/base/json.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_hazard(struct host_run *run, const json_t *hazard)
{
    if (!run->hazards)
        run->hazards = json_array();
    json_array_append_new(run->hazards, json_deep_copy(hazard));
}

static void add_case(struct host_run *run, json_t *entry)
{
    if (!run->fault)
        run->fault = json_incref(json_object_get(entry, "fault"));
    const char *verdict = json_string_value(json_object_get(entry, "verdict"));
    if (run->all_cases || (verdict && strcmp(verdict, verdict_name(VERDICT_PASS)) != 0))
        emit_add(run->answer->emit, "cases", json_incref(entry));
}

void host_run_hear(void *context, const json_t *event)
{
    struct host_run *run = context;
    const json_t *add = json_object_get(event, "add");
    json_t *entry = json_object_get(add, "cases"), *hazard = json_object_get(add, "hazards"),
           *metrics = json_object_get(event, "metrics"),
           *timeline = json_object_get(event, "timeline");
    const char *unknown = json_string_value(json_object_get(event, "unknown"));
    const char *no_trace = json_string_value(json_object_get(event, "no_trace"));
    if (entry)
        add_case(run, entry);
    if (hazard)
        add_hazard(run, hazard);
    if (metrics && run->metrics) /* the trace adds to what was counted */
        json_object_update(run->metrics, metrics);
    else if (metrics)
        run->metrics = json_deep_copy(metrics);
    if (no_trace)
        snprintf(run->no_trace, sizeof run->no_trace, "%s", no_trace);
    if (timeline && !run->timeline)
        run->timeline = json_incref(timeline);
    if (unknown)
        snprintf(run->unknown, sizeof run->unknown, "%s", unknown);
}

/* A function's name as the student wrote it, without the ending that a header gave it. */
static void add_unknown_line(struct host_run *run, const struct buf *source)
{
    static const char *const endings[] = {"_ptsz", "_ptds", "_v2", "_v3"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *ending = strstr(run->unknown, endings[i]);
        if (ending && !ending[strlen(endings[i])])
            *ending = '\0';
    }
    unsigned line = entry_line(buf_str(source), run->unknown);
    char *text = mem_strdup(run->outcome.summary);
    if (line)
        snprintf(run->outcome.summary, sizeof run->outcome.summary, _("line %u: %s"), line, text);
    free(text);
}

static void add_death(struct host_run *run, bool gpu)
{
    const struct host_outcome *outcome = &run->outcome;
    if (!outcome->died || outcome->verdict == VERDICT_CANNOT_RUN || !outcome->n)
        return;
    emit_add(run->answer->emit, "cases",
             json_pack("{s:I, s:I, s:s, s:s, s:o}", "n", (json_int_t)outcome->n, "seed",
                       (json_int_t)run->answer->work->seed, "backend", gpu ? "gpu" : "sim",
                       "verdict", verdict_name(outcome->verdict), "text",
                       json_text(outcome->summary)));
}

static json_t *load_command(const struct host_run_request *request)
{
    struct err ignored = {0};
    struct host_warm *warm = request->warm;
    json_t *command =
        json_pack("{s:s, s:o, s:o}", "do", "load", "yours", json_text(request->yours->object),
                  "solution", json_text(warm->solution.object));
    if (request->yours->lines)
        json_object_set_new(command, "lines", json_text(request->yours->lines));
    if (request->baseline && host_warm_baseline(warm, &ignored))
        json_object_set_new(command, "baseline", json_text(warm->baseline.object));
    return command;
}

static json_t *check_command(const struct host_run_request *request, uint64_t seed)
{
    json_t *sizes = json_array();
    for (size_t i = 0; i < request->size_count; i++)
        json_array_append_new(sizes, json_integer((json_int_t)request->sizes[i]));
    return json_pack("{s:s, s:o, s:I}", "do", "check", "sizes", sizes, "seed", (json_int_t)seed);
}

bool host_run_check(struct host_run *run, const struct host_run_request *request, struct err *err)
{
    uint64_t seed = request->answer->work->seed;
    run->answer = request->answer;
    if (!host_warm_child(request->warm, &run->child, request->gpu, seed, err))
        return false;
    run->ran = true;
    host_child_do(&run->child, load_command(request), HOST_RUN_CALL_MS, request->deadline_ms,
                  host_run_hear, run, &run->outcome);
    if (run->outcome.verdict == VERDICT_PASS)
        host_child_do(&run->child, check_command(request, seed), HOST_RUN_CALL_MS,
                      request->deadline_ms, host_run_hear, run, &run->outcome);
    if (run->unknown[0])
        add_unknown_line(run, &request->yours->build.source);
    add_death(run, request->gpu);
    return true;
}

void host_run_free(struct host_run *run)
{
    if (run->ran)
        host_child_free(&run->child);
    json_decref(run->metrics);
    json_decref(run->timeline);
    json_decref(run->hazards);
    json_decref(run->fault);
}
