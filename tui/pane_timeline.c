/* The timeline of a run as text: a row per stream, engine or tile, time from left to right. What a
 * bar is can be told without colour: each kind has its own letter. Host labs have a view of their
 * own (pane_timeline_host.c); here is one block of a kernel lab, in the simulator's steps. */
#include "tui/pane_timeline.h"

#include "harness/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void lay_bar(struct strip *strip, const struct bar *bar, const struct scale *scale,
                    bool seen[GANTT_KIND_COUNT])
{
    struct gantt_kind_facts facts = gantt_kind_facts(bar->kind);
    int a = scale_column(scale, bar->from), b = scale_column(scale, bar->to);
    if (b <= a)
        b = a + 1;
    bool barrier = bar->kind == GANTT_BARRIER;
    for (int at = a < 0 ? 0 : a; at < b && at < strip->columns; at++)
        strip_lay(strip, at, barrier ? ':' : facts.letter, barrier ? STYLE_DIM : facts.style);
    bool phase = facts.letter == '#' && b - a > 1;
    if (barrier) /* warps arrive one by one; it opens at the end */
        strip_lay(strip, b - 1, '|', facts.style);
    else
        strip_label(strip, a, b, bar->label);
    if (phase) /* two phases of work would run together */
        strip_lay(strip, b - 1, '|', STYLE_DIM);
    seen[bar->kind] = true;
}

static void add_row(struct doc *doc, const struct bar_row *row, const json_t *marks,
                    const struct scale *scale, bool seen[GANTT_KIND_COUNT])
{
    struct strip strip;
    strip_start(&strip, scale);
    for (int barriers = 0; barriers < 2; barriers++) /* short, and not to be hidden */
        for (size_t i = 0; i < row->count; i++)
            if ((row->bars[i].kind == GANTT_BARRIER) == barriers)
                lay_bar(&strip, &row->bars[i], scale, seen);
    strip_marks(&strip, marks, row->name, scale);
    strip_add(doc, &strip, row->name);
}

/* Waits and hazards have rows of their own where they belong to no other. */
static void add_mark_row(struct doc *doc, const json_t *marks, const char *row, const char *title,
                         const struct scale *scale)
{
    struct strip strip;
    bool any = false;
    size_t i;
    json_t *mark;
    json_array_foreach((json_t *)(uintptr_t)marks, i, mark)
        any |= strcmp(record_text(mark, "row"), row) == 0;
    if (!any)
        return;
    strip_start(&strip, scale);
    strip_marks(&strip, marks, row, scale);
    strip_add(doc, &strip, title);
}

static void add_marks(struct doc *doc, const json_t *timeline)
{
    size_t i;
    json_t *mark;
    json_array_foreach((json_t *)(uintptr_t)record_at(timeline, "marks"), i, mark) {
        double at = 0;
        record_number(mark, "at", &at);
        bool wait = mark_is_wait(mark);
        if (i == 0)
            pane_heading(doc, _("Marks"));
        doc_add_str(doc, wait ? STYLE_KEY : STYLE_WARN, wait ? "w " : "! ");
        doc_printf(doc, STYLE_DIM, _("at %.6g: "), at);
        if (!wait && strcmp(record_text(mark, "row"), "hazard") != 0)
            doc_printf(doc, STYLE_STRONG, "%s: ", record_text(mark, "row"));
        doc_add_str(doc, STYLE_NORMAL, record_text(mark, "text"));
        struct doc_line *line = doc_end_line(doc);
        line->indent = 2;
        line->source_line = record_int(mark, "line");
    }
}

static void say_block(struct doc *doc)
{
    doc_add_str(doc, STYLE_DIM,
                _("One block in the simulator, in program steps: order and overlap are real, "
                  "lengths are not times."));
    doc_end_line(doc);
}

static void of_block(const struct timeline_view *view, const json_t *timeline, struct doc *doc,
                     int columns)
{
    bool seen[GANTT_KIND_COUNT] = {false};
    const json_t *marks = record_at(timeline, "marks");
    struct gantt gantt;
    gantt_read(&gantt, timeline, timeline, true);
    struct scale scale = scale_choose(view, gantt.from, gantt.to, columns);
    struct gantt_unit unit = gantt_unit(&gantt, scale.to);
    say_block(doc);
    doc_add_str(doc, STYLE_NORMAL, "\n");
    for (size_t i = 0; i < gantt.row_count; i++)
        add_row(doc, &gantt.rows[i], marks, &scale, seen);
    add_mark_row(doc, marks, "wait", _("waits"), &scale);
    add_mark_row(doc, marks, "hazard", _("hazards"), &scale);
    timeline_axis(doc, &scale, &unit, unit.name);
    doc_add_str(doc, STYLE_NORMAL, "\n");
    timeline_legend(doc, seen);
    add_marks(doc, timeline);
    gantt_free(&gantt);
}

static bool in_steps(const json_t *timeline)
{
    return strcmp(record_text(timeline, "unit"), "steps") == 0;
}

void timeline_show(const struct timeline_view *view, const json_t *timeline, struct doc *doc,
                   int columns)
{
    if (in_steps(timeline))
        of_block(view, timeline, doc, columns);
    else
        timeline_of_host(view, timeline, doc, columns);
}

void timeline_summary(const json_t *timeline, struct doc *doc)
{
    if (in_steps(timeline))
        say_block(doc);
    else
        timeline_host_summary(timeline, doc);
}

void pane_build_timeline(const struct app *app, struct doc *doc, int columns)
{
    const json_t *record = app_record(app), *timeline = record_at(record, "timeline");
    const struct labfile *lab = app_lab(app);
    const char *why = pane_skipped_why(record, "timeline");
    struct timeline_view view = {app->zoom, app->from, app->graphs_open, app->baseline_hidden,
                                 true};
    if (json_array_size(record_at(timeline, "rows")) > 0) {
        timeline_show(&view, timeline, doc, columns);
        return;
    }
    if (*why)
        pane_paragraph(doc, STYLE_DIM, why);
    pane_paragraph(doc, STYLE_DIM,
                   lab && lab->kind == LAB_HOST
                       ? _("After a run, this shows what happened on the device and when: each "
                           "stream's copies, kernels and waits, the copy engines and the SMs, "
                           "beside the baseline's.")
                       : _("After a run of a kernel with asynchronous copies, this shows one "
                           "block: each tile's copy from its start to its landing, each wait, "
                           "and the computing."));
}
