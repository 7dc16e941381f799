/* Whether it is right: the stages while they run, then the verdict and everything that led to it.
 */
#include "tui/pane.h"

#include "harness/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const json_t *list_of(const json_t *record, const char *path)
{
    const json_t *list = record_at(record, path);
    return json_array_size(list) > 0 ? list : NULL;
}

/* ---- while it runs */

static void add_skipped(struct doc *doc, const char *stage, const char *why)
{
    doc_printf(doc, STYLE_DIM, "- %-10s ", stage);
    pane_cell(doc, STYLE_DIM, _("skipped"), 9, true);
    doc_printf(doc, STYLE_NORMAL, "  %s", why);
}

/* A time that was measured, or whose time it is part of. Records before `within` have next to 0. */
static void add_done(struct doc *doc, enum style style, const char *name, double ms,
                     const char *within)
{
    char time[24] = "";
    if (!*within && ms >= 0.05)
        format_ms(time, ms);
    doc_printf(doc, STYLE_PASS, "+ ");
    doc_printf(doc, style, "%-10s %9s", name, time);
    if (*within)
        doc_printf(doc, STYLE_DIM, _("  in the time of %s"), within);
}

static void add_stage(struct doc *doc, const struct attempt_stage *stage, int64_t now_ns,
                      const char *note)
{
    char time[24] = "";
    switch (stage->state) {
    case STAGE_RUNNING:
        snprintf(time, sizeof time, "%.1f s", (double)(now_ns - stage->since_ns) / 1e9);
        doc_printf(doc, STYLE_INFO, "> %-10s %9s  %s", stage->name, time, note);
        break;
    case STAGE_DONE:
        add_done(doc, STYLE_NORMAL, stage->name, stage->ms, stage->within);
        break;
    case STAGE_SKIPPED:
        add_skipped(doc, stage->name, stage->why);
        break;
    default:
        doc_printf(doc, STYLE_FAIL, "x %-10s", stage->name);
    }
    doc_end_line(doc)->indent = 24;
}

static void add_running(const struct app *app, struct doc *doc)
{
    const struct attempt *attempt = app->attempt;
    if (attempt->stage_count == 0)
        doc_add_str(doc, STYLE_INFO,
                    attempt->ready ? _("starting ...\n") : _("warming up the harness ...\n"));
    for (int i = 0; i < attempt->stage_count; i++)
        add_stage(doc, &attempt->stages[i], app->now_ns, attempt->note);
}

/* ---- the verdict */

static bool is_own(const json_t *diagnostic)
{
    const char *file = record_text(diagnostic, "file");
    return !*file || strcmp(file, "kernel.cu") == 0;
}

/* The line that the verdict is about, so that Enter and e go there; 0 for none. */
static int verdict_line(const json_t *record)
{
    size_t i;
    json_t *one;
    if (strcmp(record_text(record, "verdict"), "hazard") == 0)
        return record_int(json_array_get(record_at(record, "hazards"), 0), "line");
    const json_t *diagnostics = record_at(record, "build.diagnostics");
    const json_t *cases = record_at(record, "cases");
    json_array_foreach((json_t *)(uintptr_t)diagnostics, i, one)
        if (strcmp(record_text(one, "severity"), "error") == 0 && is_own(one))
            return record_int(one, "line");
    json_array_foreach((json_t *)(uintptr_t)cases, i, one)
        if (record_int(one, "fault.line") > 0)
            return record_int(one, "fault.line");
        else if (record_int(one, "line") > 0)
            return record_int(one, "line");
    return 0;
}

static void add_verdict(struct doc *doc, const json_t *record)
{
    const char *name = record_text(record, "verdict");
    enum verdict verdict;
    enum style style;
    const char *mark = verdict_mark_of(name, &style);
    doc_printf(doc, style, "%s %s", mark, name);
    if (verdict_parse(&verdict, name))
        doc_printf(doc, STYLE_DIM, "   %s", verdict_meaning(verdict));
    struct doc_line *line = doc_end_line(doc);
    line->indent = 2;
    line->source_line = verdict_line(record);
    pane_paragraph(doc, STYLE_NORMAL, record_text(record, "summary"));
}

static void add_diagnostics(struct doc *doc, const json_t *record)
{
    const json_t *list = list_of(record, "build.diagnostics");
    size_t i;
    json_t *one;
    if (!list)
        return;
    pane_heading(doc, _("From the compiler"));
    json_array_foreach((json_t *)(uintptr_t)list, i, one) {
        const char *severity = record_text(one, "severity"), *file = record_text(one, "file");
        bool error = strcmp(severity, "error") == 0;
        int line = record_int(one, "line");
        enum style style = error                              ? STYLE_FAIL
                           : strcmp(severity, "warning") == 0 ? STYLE_WARN
                                                              : STYLE_DIM;
        char where[80] = "";
        bool own = is_own(one);
        if (line > 0)
            snprintf(where, sizeof where, own ? _("line %d") : "%2$.60s:%1$d", line, file);
        doc_printf(doc, style, "%s %s", error ? "E" : style == STYLE_WARN ? "W" : "i", where);
        doc_add_str(doc, STYLE_NORMAL, *where ? "  " : "");
        pane_hang(doc, STYLE_NORMAL, record_text(one, "text"), 4, own ? line : 0);
    }
    if (json_is_true(record_at(record, "build.log_cut")))
        doc_add_str(doc, STYLE_DIM, _("  the rest of the compiler's text was left out\n"));
}

static void add_hazards(struct doc *doc, const json_t *record)
{
    const json_t *list = list_of(record, "hazards");
    size_t i;
    json_t *one;
    if (!list)
        return;
    pane_heading(doc, _("Hazards"));
    json_array_foreach((json_t *)(uintptr_t)list, i, one) {
        int line = record_int(one, "line"), other = record_int(one, "other_line");
        int count = record_int(one, "count");
        doc_printf(doc, STYLE_WARN, "! %s", record_text(one, "kind"));
        if (line > 0 && other > 0 && other != line)
            doc_printf(doc, STYLE_STRONG, _("  lines %d and %d"), line, other);
        else if (line > 0)
            doc_printf(doc, STYLE_STRONG, _("  line %d"), line);
        if (count > 1)
            doc_printf(doc, STYLE_DIM, _("  %d times"), count);
        doc_end_line(doc)->source_line = line;
        doc_printf(doc, STYLE_NORMAL, "  %s", record_text(one, "text"));
        struct doc_line *text = doc_end_line(doc);
        text->indent = 2;
        text->source_line = line;
        if (i + 1 < json_array_size(list))
            doc_add_str(doc, STYLE_NORMAL, "\n");
    }
}

/* ---- the cases */

static void value_text(char out[40], const json_t *value)
{
    if (json_is_string(value))
        snprintf(out, 40, "%.30s", json_string_value(value));
    else if (json_is_number(value))
        snprintf(out, 40, "%.*g", fabs(json_number_value(value)) >= 1e9 ? 10 : 9,
                 json_number_value(value));
    else
        snprintf(out, 40, "?");
}

static void begin_place(struct doc *doc)
{
    if (!doc->open)
        doc_add_str(doc, STYLE_NORMAL, "    ");
}

/* No row for the labs that can't say who made an element. */
static void add_place(struct doc *doc, const json_t *mismatch)
{
    static const char *const parts[] = {"block", "thread"};
    for (int i = 0; i < 2; i++) {
        const json_t *at = json_object_get(mismatch, parts[i]);
        if (json_array_size(at) != 3)
            continue;
        long long x = json_integer_value(json_array_get(at, 0));
        long long y = json_integer_value(json_array_get(at, 1));
        long long z = json_integer_value(json_array_get(at, 2));
        const char *name = i == 0 ? _("block") : _("thread");
        begin_place(doc);
        if (y == 0 && z == 0)
            doc_printf(doc, STYLE_NORMAL, "%s %lld  ", name, x);
        else
            doc_printf(doc, STYLE_NORMAL, "%s (%lld,%lld,%lld)  ", name, x, y, z);
    }
    if (json_is_number(json_object_get(mismatch, "tile"))) {
        begin_place(doc);
        doc_printf(doc, STYLE_NORMAL, _("tile %d  "), record_int(mismatch, "tile"));
    }
    if (json_is_number(json_object_get(mismatch, "stage"))) {
        begin_place(doc);
        doc_printf(doc, STYLE_NORMAL, _("stage %d"), record_int(mismatch, "stage"));
    }
    if (doc->open)
        doc_end_line(doc)->indent = 4;
}

static void add_mismatch(struct doc *doc, const json_t *mismatch)
{
    char want[40], got[40], wrong[32], checked[32];
    value_text(want, json_object_get(mismatch, "want"));
    value_text(got, json_object_get(mismatch, "got"));
    double number = 0, wrong_count = 0, checked_count = 0;
    record_number(mismatch, "index", &number);
    record_number(mismatch, "wrong_count", &wrong_count);
    record_number(mismatch, "checked_count", &checked_count);
    format_count(wrong, wrong_count);
    format_count(checked, checked_count);
    const char *buffer = record_text(mismatch, "buffer");
    doc_printf(doc, STYLE_FAIL, "    %s[%.0f]", *buffer ? buffer : _("output"), number);
    doc_printf(doc, STYLE_NORMAL, _(": want %s, got "), want);
    doc_printf(doc, STYLE_FAIL, "%s", got);
    if (checked_count > 0)
        doc_printf(doc, STYLE_DIM, _("   (%s of %s wrong)"), wrong, checked);
    doc_end_line(doc)->indent = 6;
    add_place(doc, mismatch);
    if (*record_text(mismatch, "pattern")) {
        doc_printf(doc, STYLE_STRONG, "    %s", record_text(mismatch, "pattern"));
        doc_end_line(doc)->indent = 4;
    }
}

static void add_figure(struct doc *doc, const char *name, double value)
{
    doc_printf(doc, STYLE_DIM, " %s ", name);
    doc_printf(doc, STYLE_DIM, "%-9.3g", value);
}

static void add_case(struct doc *doc, const json_t *one, int columns)
{
    double error, tolerance, n = 0;
    char count[32];
    enum style style;
    const char *verdict = record_text(one, "verdict"), *mark = verdict_mark_of(verdict, &style);
    record_number(one, "n", &n);
    format_count(count, n);
    const char *not_run = record_text(one, "not_run");
    doc_printf(doc, style, "%s ", *not_run ? "-" : mark);
    doc_printf(doc, *not_run ? STYLE_DIM : STYLE_NORMAL, "n = %-13s", count);
    if (*not_run) {
        doc_printf(doc, STYLE_DIM, _(" not run: %s"), not_run);
        doc_end_line(doc)->indent = 4;
        return;
    }
    doc_printf(doc, style, " %-10s", verdict);
    if (record_number(one, "max_error", &error))
        add_figure(doc, _("error"), error);
    if (columns >= 62 && record_number(one, "tolerance", &tolerance))
        add_figure(doc, _("allowed"), tolerance);
    if (columns >= 48)
        doc_printf(doc, STYLE_DIM, " %s", record_text(one, "backend"));
    doc_end_line(doc)->keep = true;
    const json_t *mismatch = record_at(one, "mismatch"), *fault = record_at(one, "fault");
    if (json_is_object(mismatch))
        add_mismatch(doc, mismatch);
    if (json_is_object(fault)) {
        int line = record_int(fault, "line");
        doc_printf(doc, STYLE_FAIL, "    %s", record_text(fault, "kind"));
        if (line > 0)
            doc_printf(doc, STYLE_STRONG, _("  line %d"), line);
        doc_printf(doc, STYLE_NORMAL, "  %s", record_text(fault, "text"));
        struct doc_line *added = doc_end_line(doc);
        added->indent = 6;
        added->source_line = line;
    }
}

static void add_cases(struct doc *doc, const json_t *record, int columns)
{
    const json_t *list = list_of(record, "cases");
    size_t i;
    json_t *one;
    if (!list)
        return;
    pane_heading(doc, _("Every size"));
    json_array_foreach((json_t *)(uintptr_t)list, i, one)
        add_case(doc, one, columns);
}

/* ---- the rest */

static void add_landmarks(struct doc *doc, const json_t *record)
{
    const json_t *list = list_of(record, "landmarks");
    size_t i;
    json_t *one;
    if (!list)
        return;
    pane_heading(doc, _("What the lesson is about, in your machine code"));
    json_array_foreach((json_t *)(uintptr_t)list, i, one) {
        bool ok = json_is_true(record_at(one, "ok"));
        doc_printf(doc, ok ? STYLE_PASS : STYLE_DIM, "%s %-16s", ok ? "+" : "·",
                   record_text(one, "name"));
        /* One that a solution need not have is there to tell a lab's two versions apart. */
        if (record_int(one, "want") > 0)
            doc_printf(doc, STYLE_NORMAL, _(" %s: found %d, a good solution has at least %d"),
                       record_text(one, "listing"), record_int(one, "found"),
                       record_int(one, "want"));
        else
            doc_printf(doc, STYLE_NORMAL, _(" %s: found %d; only the experiment has some"),
                       record_text(one, "listing"), record_int(one, "found"));
        doc_end_line(doc)->indent = 4;
    }
}

/* How a host lab's run is built: what was wanted, and what was found. */
static void add_structure(struct doc *doc, const json_t *record)
{
    const json_t *list = list_of(record, "structure");
    size_t i;
    json_t *one;
    if (!list)
        return;
    pane_heading(doc, _("How your run is built"));
    json_array_foreach((json_t *)(uintptr_t)list, i, one) {
        bool ok = json_is_true(record_at(one, "ok"));
        bool least = strcmp(record_text(one, "bound"), "at least") == 0;
        double want = 0, found = 0;
        record_number(one, "want", &want);
        record_number(one, "found", &found);
        doc_printf(doc, ok ? STYLE_PASS : STYLE_WARN, "%s %-16s", ok ? "+" : "!",
                   record_text(one, "name"));
        doc_printf(doc, STYLE_STRONG, " %.3g", found);
        doc_printf(doc, STYLE_DIM, least ? _("  (at least %.3g)") : _("  (at most %.3g)"), want);
        doc_end_line(doc)->keep = true;
        doc_printf(doc, STYLE_NORMAL, "  %s", record_text(one, "text"));
        doc_end_line(doc)->indent = 2;
    }
}

static void add_stages(struct doc *doc, const json_t *record)
{
    const json_t *stages = list_of(record, "stages"), *skipped = list_of(record, "skipped");
    size_t i;
    json_t *one;
    if (!stages && !skipped)
        return;
    pane_heading(doc, _("Stages"));
    json_array_foreach((json_t *)(uintptr_t)stages, i, one) {
        double ms = 0;
        record_number(one, "ms", &ms);
        add_done(doc, STYLE_DIM, record_text(one, "name"), ms, record_text(one, "within"));
        doc_end_line(doc);
    }
    json_array_foreach((json_t *)(uintptr_t)skipped, i, one) {
        add_skipped(doc, record_text(one, "stage"), record_text(one, "why"));
        doc_end_line(doc)->indent = 24;
    }
}

static void add_output(struct doc *doc, const json_t *record)
{
    const char *output = record_text(record, "output");
    if (!*output)
        return;
    pane_heading(doc, _("Your program printed"));
    doc_add_str(doc, STYLE_CODE, output);
    if (doc->open)
        doc_end_line(doc);
    if (json_is_true(record_at(record, "output_cut")))
        doc_add_str(doc, STYLE_DIM, _("  ... the rest was left out\n"));
}

void pane_build_correctness(const struct app *app, struct doc *doc, int columns)
{
    const json_t *record = app_record(app);
    bool running = app->attempt && !app->past_number;
    if (running)
        add_running(app, doc);
    else if (*record_text(record, "verdict")) {
        if (app->kernel_changed && !app->past_number)
            pane_paragraph(doc, STYLE_INFO,
                           _("Your kernel has changed since this run; r runs it."));
        add_verdict(doc, record);
    } else if (app->past_number)
        pane_paragraph(doc, STYLE_DIM, _("Nothing was run for this entry; Code shows its kernel."));
    else
        pane_paragraph(
            doc, STYLE_DIM,
            _("Nothing was run yet. r runs your kernel: it is compiled, checked at every "
              "size, looked through for hazards, and timed where there is a GPU."));
    add_diagnostics(doc, record);
    add_hazards(doc, record);
    add_cases(doc, record, columns);
    add_structure(doc, record);
    add_landmarks(doc, record);
    add_output(doc, record);
    if (!running)
        add_stages(doc, record);
}
