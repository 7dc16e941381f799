/* What the kernel takes of the machine, what was counted in it, and which machine it was. */
#include "tui/pane.h"

#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

enum { LABEL = 24 };

static void add_number(struct doc *doc, const json_t *from, const char *key, const char *label,
                       const char *unit)
{
    double value;
    if (!record_number(from, key, &value))
        return;
    char text[32];
    if (value == (double)(int64_t)value)
        format_count(text, value);
    else
        snprintf(text, sizeof text, "%.3g", value);
    pane_field(doc, label, LABEL, STYLE_NORMAL, "%s%s%s", text, *unit ? " " : "", unit);
}

static void add_size(struct doc *doc, const json_t *from, const char *key, const char *label)
{
    double value;
    char text[24];
    if (!record_number(from, key, &value))
        return;
    format_bytes(text, value);
    pane_field(doc, label, LABEL, STYLE_NORMAL, "%s", text);
}

static void add_kernel(struct doc *doc, const json_t *resources, const char *arch, int columns)
{
    double occupancy;
    char title[96];
    snprintf(title, sizeof title,
             *arch ? _("Your kernel takes, as built for %s") : _("Your kernel takes"), arch);
    pane_heading(doc, title);
    add_number(doc, resources, "registers", _("registers per thread"), "");
    add_size(doc, resources, "shared_bytes", _("shared memory per block"));
    add_size(doc, resources, "local_bytes", _("local memory per thread"));
    if (record_int(resources, "local_bytes") > 0)
        pane_field(doc, "", LABEL, STYLE_WARN, "%s",
                   _("! local memory lives in global memory: spilled registers, or an array"));
    add_number(doc, resources, "blocks_per_sm", _("blocks per SM"), "");
    add_number(doc, resources, "warps_per_sm", _("warps per SM"), "");
    if (record_number(resources, "occupancy", &occupancy)) {
        const char *label = _("occupancy");
        doc_add_str(doc, STYLE_DIM, label);
        pane_pad(doc, text_columns(label, strlen(label)), LABEL);
        if (columns - LABEL - 8 >= 8)
            pane_bar(doc, STYLE_BAR, occupancy, columns - LABEL - 8);
        doc_printf(doc, STYLE_STRONG, " %3.0f %%", occupancy * 100);
        doc_end_line(doc)->keep = true;
    }
    if (*record_text(resources, "limited_by"))
        pane_field(doc, _("limited by"), LABEL, STYLE_NORMAL, "%s",
                   attempt_word(record_text(resources, "limited_by")));
}

static void add_kinds(struct doc *doc, const json_t *kinds)
{
    const char *kind;
    json_t *count;
    json_object_foreach((json_t *)(uintptr_t)kinds, kind, count) {
        char label[40];
        snprintf(label, sizeof label, "  %.30s", attempt_word(kind));
        add_number(doc, kinds, kind, label, "");
    }
}

static void add_lines(struct doc *doc, const json_t *lines)
{
    size_t i;
    json_t *one;
    if (json_array_size(lines) == 0)
        return;
    doc_add_str(doc, STYLE_NORMAL, "\n");
    pane_cell(doc, STYLE_DIM, _("line"), 6, true);
    pane_cell(doc, STYLE_DIM, _("requests"), 12, true);
    pane_cell(doc, STYLE_DIM, _("sectors"), 12, true);
    pane_cell(doc, STYLE_DIM, _("each"), 10, true);
    pane_cell(doc, STYLE_DIM, _("bank conflicts"), 16, true);
    doc_end_line(doc)->keep = true;
    json_array_foreach((json_t *)(uintptr_t)lines, i, one) {
        double requests = 0, sectors = 0, conflicts = 0;
        char a[32], b[32], c[32];
        record_number(one, "requests", &requests);
        record_number(one, "sectors", &sectors);
        record_number(one, "bank_conflicts", &conflicts);
        format_count(a, requests);
        format_count(b, sectors);
        format_count(c, conflicts);
        doc_printf(doc, STYLE_LINE_NUMBER, "%6d", record_int(one, "line"));
        char each[32] = "-"; /* shared memory only: nothing was requested from global memory */
        if (sectors > 0)
            snprintf(each, sizeof each, "%.3g", sectors / requests);
        doc_printf(doc, STYLE_NORMAL, "  %10s  %10s  %8s  ", a, b, each);
        doc_printf(doc, conflicts > 0 ? STYLE_WARN : STYLE_NORMAL, "%14s%s", c,
                   conflicts > 0 ? " !" : "");
        struct doc_line *line = doc_end_line(doc);
        line->keep = true;
        line->source_line = record_int(one, "line");
    }
}

static void add_counters(struct doc *doc, const json_t *counters)
{
    char title[96], n[32];
    format_count(n, record_int(counters, "n"));
    snprintf(title, sizeof title, _("Counted, not timed (%s, n = %s)"),
             record_text(counters, "backend"), n);
    pane_heading(doc, title);
    add_number(doc, counters, "instructions", _("warp instructions"), "");
    add_number(doc, counters, "lane_instructions", _("lane instructions"), "");
    add_kinds(doc, record_at(counters, "by_kind"));
    add_number(doc, counters, "sectors_per_request", _("sectors per request"), "");
    add_number(doc, counters, "bank_conflicts", _("bank conflicts"), "");
    add_number(doc, counters, "divergent_branches", _("divergent branches"), "");
    add_size(doc, counters, "bytes_read", _("read from global"));
    add_size(doc, counters, "bytes_written", _("written to global"));
    add_number(doc, counters, "flops", _("floating-point ops"), "");
    add_number(doc, counters, "arithmetic_intensity", _("arithmetic intensity"), "FLOP/B");
    const json_t *waits = record_at(counters, "groups_in_flight");
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)waits, i, one) {
        char label[48];
        snprintf(label, sizeof label, _("wait in line %d"), record_int(one, "line"));
        int least = record_int(one, "least"), most = record_int(one, "most");
        if (least == most)
            pane_field(doc, label, LABEL, STYLE_NORMAL, _("groups in flight: always %d"), most);
        else
            pane_field(doc, label, LABEL, STYLE_NORMAL, _("groups in flight: %d to %d"), least,
                       most);
    }
    add_lines(doc, record_at(counters, "lines"));
}

static void add_machine(struct doc *doc, const json_t *record)
{
    const json_t *device = record_at(record, "device"), *toolkit = record_at(record, "toolkit");
    if (!device && !toolkit)
        return;
    pane_heading(doc, _("The machine"));
    if (device) {
        pane_field(doc, _("device"), LABEL, STYLE_NORMAL, "%s", record_text(device, "name"));
        if (*record_text(device, "compute_capability"))
            pane_field(doc, _("compute capability"), LABEL, STYLE_NORMAL, "%s",
                       record_text(device, "compute_capability"));
        add_number(doc, device, "multiprocessors", _("SMs"), "");
        add_size(doc, device, "l2_bytes", _("L2 cache"));
        add_size(doc, device, "memory_bytes", _("memory"));
        if (*record_text(device, "driver"))
            pane_field(doc, _("driver"), LABEL, STYLE_NORMAL, "%s", record_text(device, "driver"));
    }
    if (*record_text(toolkit, "version"))
        pane_field(doc, _("toolkit"), LABEL, STYLE_NORMAL, "%s  %s",
                   record_text(toolkit, "version"), record_text(toolkit, "arch"));
}

void pane_build_resources(const struct app *app, struct doc *doc, int columns)
{
    const json_t *record = app_record(app), *resources = record_at(record, "resources");
    const json_t *counters = record_at(record, "counters");
    if (resources)
        add_kernel(doc, resources, record_text(record, "toolkit.arch"), columns);
    if (counters)
        add_counters(doc, counters);
    add_machine(doc, record);
    if (doc->line_count == 0)
        pane_paragraph(doc, STYLE_DIM,
                       _("After a run this shows registers, shared memory, occupancy and what was "
                         "counted: instructions, sectors per request, bank conflicts."));
}
