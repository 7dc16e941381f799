/* What a simulated launch found, in the record's words (docs/record.md). */
#include "harness/sim.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"
#include "harness/base/msg.h"
#include "harness/host/kernel_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sim_line(const struct backend_module *module, uint32_t line)
{
    uint32_t id = ptx_line_in_file(module->ptx, line, module->source_name);
    return (int)module->ptx->lines[id].line;
}

/* ---- status */

/* "thread (5,0,0) of block (2,0,0)", as far as dimensions are used. */
static void name_thread(char *out, size_t size, const struct launch *launch,
                        const struct ptx_thread *at)
{
    bool flat = launch->block[1] == 1 && launch->block[2] == 1;
    bool flat_grid = launch->grid[1] == 1 && launch->grid[2] == 1;
    char thread[48], block[48];
    if (flat)
        snprintf(thread, sizeof thread, "%u", at->thread[0]);
    else
        snprintf(thread, sizeof thread, "(%u,%u,%u)", at->thread[0], at->thread[1], at->thread[2]);
    if (flat_grid)
        snprintf(block, sizeof block, "%u", at->block[0]);
    else
        snprintf(block, sizeof block, "(%u,%u,%u)", at->block[0], at->block[1], at->block[2]);
    snprintf(out, size, _("thread %s of block %s"), thread, block);
}

static void report_status(const struct launch *launch, const struct ptx_result *run,
                          struct launch_result *out)
{
    char who[128] = "";
    out->line = sim_line(launch->module, run->line);
    if (run->has_thread)
        name_thread(who, sizeof who, launch, &run->thread);
    switch (run->status) {
    case PTX_DONE:
        return;
    case PTX_UNSUPPORTED:
        out->verdict = VERDICT_CANNOT_RUN;
        snprintf(out->text, sizeof out->text, "%s", run->message);
        return;
    case PTX_TIMED_OUT:
        out->verdict = VERDICT_TIMED_OUT;
        if (out->line)
            snprintf(out->text, sizeof out->text, _("%.400s; it was at line %d"), run->message,
                     out->line);
        else
            snprintf(out->text, sizeof out->text, "%s", run->message);
        return;
    case PTX_DEADLOCK:
        out->verdict = VERDICT_TIMED_OUT;
        snprintf(out->text, sizeof out->text, "%s", run->message);
        return;
    case PTX_FAULT:
        out->verdict = VERDICT_FAULT;
        snprintf(out->fault_kind, sizeof out->fault_kind, "%s", kernel_json_fault(run->fault));
        if (*who && out->line)
            snprintf(out->text, sizeof out->text, _("%.300s (line %d, %s)"), run->message,
                     out->line, who);
        else
            snprintf(out->text, sizeof out->text, "%s", run->message);
        return;
    }
}

/* ---- hazards */

static json_t *hazard_json(const struct launch *launch, const struct ptx_hazard *h)
{
    const struct backend_module *module = launch->module;
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(ptx_hazard_name(h->kind)));
    json_object_set_new(object, "line", json_integer(sim_line(module, h->line)));
    int other = sim_line(module, h->other_line);
    if (other)
        json_object_set_new(object, "other_line", json_integer(other));
    kernel_json_add_place(object, h, launch->block);
    json_object_set_new(object, "count", json_integer((json_int_t)h->count));
    json_object_set_new(object, "text", json_string(h->text));
    if (h->if_used)
        json_object_set_new(object, LAUNCH_HAZARD_IF_USED, json_true());
    return object;
}

static void report_hazards(const struct launch *launch, const struct ptx_result *run,
                           struct launch_result *out)
{
    if (!run->hazard_count)
        return;
    out->hazards = json_array();
    for (size_t i = 0; i < run->hazard_count; i++)
        json_array_append_new(out->hazards, hazard_json(launch, &run->hazards[i]));
    if (out->verdict != VERDICT_PASS)
        return;
    out->verdict = VERDICT_HAZARD;
    out->line = sim_line(launch->module, run->hazards[0].line);
    snprintf(out->text, sizeof out->text, "%s", run->hazards[0].text);
}

/* ---- counters */

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_int_t line_at(const json_t *lines, size_t at)
{
    return json_integer_value(json_object_get(json_array_get(lines, at), "line"));
}

/* Lines of headers and of the student's file under one number: sums per line that can be shown, in
 * the order of the lines. */
static json_t *lines_json(const struct launch *launch, const struct ptx_result *run)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < run->line_count; i++) {
        const struct ptx_line_counters *l = &run->lines[i];
        uint64_t requests = l->global_load_requests + l->global_store_requests;
        uint64_t conflicts = l->shared_wavefronts - l->shared_ideal_wavefronts;
        int line = sim_line(launch->module, l->line);
        if (!line || !(requests || l->shared_requests))
            continue;
        size_t at = 0;
        while (at < json_array_size(lines) && line_at(lines, at) < line)
            at++;
        json_t *known = json_array_get(lines, at);
        if (!known || line_at(lines, at) != line) {
            known = json_pack("{s:i}", "line", line);
            json_array_insert_new(lines, at, known);
        }
        const struct {
            const char *key;
            uint64_t value;
        } sums[] = {
            {"requests", requests + l->shared_requests},
            {"sectors", l->global_load_sectors + l->global_store_sectors},
            {"bank_conflicts", conflicts},
        };
        for (size_t s = 0; s < sizeof sums / sizeof *sums; s++) {
            json_int_t old = json_integer_value(json_object_get(known, sums[s].key));
            json_object_set_new(known, sums[s].key, number((uint64_t)old + sums[s].value));
        }
    }
    return lines;
}

static json_t *groups_json(const struct launch *launch, const struct ptx_result *run)
{
    json_t *waits = json_array();
    for (size_t i = 0; i < run->line_count; i++) {
        const struct ptx_line_counters *l = &run->lines[i];
        if (l->waits)
            json_array_append_new(
                waits, json_pack("{s:i, s:i, s:i}", "line", sim_line(launch->module, l->line),
                                 "most", (int)l->groups_most, "least", (int)l->groups_least));
    }
    return waits;
}

static void report_counters(const struct launch *launch, const struct ptx_result *run,
                            struct launch_result *out)
{
    json_t *object = kernel_json_counters(&run->counters);
    json_object_set_new(object, "lines", lines_json(launch, run));
    if (run->counters.waits)
        json_object_set_new(object, "groups_in_flight", groups_json(launch, run));
    out->counters = object;
}

void sim_report(const struct sim *sim, const struct launch *launch, const struct ptx_result *run,
                struct launch_result *out)
{
    (void)sim;
    report_status(launch, run, out);
    if (launch->hazards) {
        report_hazards(launch, run, out);
        report_counters(launch, run, out);
        out->timeline = sim_timeline(launch->module, run);
    }
    if (run->output.len) {
        struct buf clean = {0};
        clean_text(&clean, buf_str(&run->output), run->output.len);
        out->output = buf_take(&clean);
    }
}
