/* The timeline of a host lab: streams, copy engines, SMs and host of one run, the baseline's below
 * it under the same scale, what was measured in them, and the pieces in view one by one.
 *
 * There may be thousands of bars: each is looked at once, and where several share a column the
 * longest is drawn. */
#include "tui/pane_timeline.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 200 };

/* ---- bars */

static void lay_bar(struct strip *strip, const struct bar *bar, const struct scale *scale,
                    bool seen[GANTT_KIND_COUNT])
{
    if (bar->to < scale->from || bar->from > scale->to)
        return;
    struct gantt_kind_facts facts = gantt_kind_facts(bar->kind);
    int a = scale_column(scale, bar->from), b = scale_column(scale, bar->to);
    if (a >= strip->columns) /* at the very end it is still to be seen */
        a = strip->columns - 1;
    if (b <= a)
        b = a + 1;
    double columns = (bar->to - bar->from) / (scale->to - scale->from) * scale->columns;
    float share = b - a > 1 ? 1.0F : (float)columns;
    bool meets = a > 0 && strip->letter[a - 1] == facts.letter;
    for (int at = a < 0 ? 0 : a; at < b && at < strip->columns; at++)
        if (strip->letter[at] == ' ' || share > strip->share[at]) {
            strip_lay(strip, at, facts.letter, bar->pageable ? STYLE_WARN : facts.style);
            strip->share[at] = share;
        }
    if (bar->pageable)
        strip_lay(strip, a < 0 ? 0 : a, 'p', STYLE_WARN);
    else if (meets && b - a > 1) /* two of a kind would run together */
        strip_lay(strip, a, '|', STYLE_DIM);
    if (b - a > 6) {
        char label[96];
        gantt_bar_label(bar, label);
        strip_label(strip, a, b, label);
    }
    seen[bar->kind] = true;
    seen[GANTT_PAGEABLE] |= bar->pageable;
}

static void add_rows(struct doc *doc, const struct gantt *gantt, const json_t *marks,
                     const struct scale *scale, bool seen[GANTT_KIND_COUNT])
{
    for (size_t i = 0; i < gantt->row_count; i++) {
        const struct bar_row *row = &gantt->rows[i];
        struct strip strip;
        char title[64];
        strip_start(&strip, scale);
        for (size_t j = 0; j < row->count; j++)
            lay_bar(&strip, &row->bars[j], scale, seen);
        if (row->role != ROLE_ENGINE)
            strip_marks(&strip, marks, row->name, scale);
        gantt_row_title(row, title);
        strip_add(doc, &strip, title);
    }
}

/* ---- what was measured, in sentences */

static void time_at(const json_t *timeline, const char *path, char out[24])
{
    double us = 0;
    record_number(timeline, path, &us);
    format_ms(out, us / 1000);
}

static void say_overlap(struct doc *doc, const json_t *timeline)
{
    double overlap = 0, work_overlap = 0, length = 0, ideal = 0;
    char takes[24], needs[24], works[24];
    record_number(timeline, "overlap", &overlap);
    record_number(timeline, "work_overlap", &work_overlap);
    record_number(timeline, "length_us", &length);
    record_number(timeline, "ideal_us", &ideal);
    time_at(timeline, "length_us", takes);
    time_at(timeline, "ideal_us", needs);
    time_at(timeline, "work_us", works);
    if (record_int(timeline, "copies") == 0) {
        doc_printf(doc, STYLE_NORMAL, _("The run takes %s; the SMs have work for %s of it."), takes,
                   works);
        return;
    }
    if (overlap > 0)
        doc_printf(doc, STYLE_NORMAL,
                   _("Copies overlap with work or each other for %.0f %% of their time, work with "
                     "copies for %.0f %%; "),
                   overlap * 100, work_overlap * 100);
    else
        doc_add_str(doc, length > ideal * 1.02 ? STYLE_WARN : STYLE_NORMAL,
                    _("No copy overlaps with work; "));
    if (length <= ideal * 1.02)
        doc_printf(doc, STYLE_NORMAL, _("%s, as short as these pieces allow."), takes);
    else
        doc_printf(doc, STYLE_NORMAL, _("%s, the ideal for these pieces is %s."), takes, needs);
}

static void say_bubbles(struct doc *doc, const json_t *timeline)
{
    double idle = 0, length = 0;
    char pause[24], longest[24], at[24];
    char title[64];
    struct bar_row row = {.name = record_text(timeline, "bubbles.row"), .role = ROLE_ENGINE};
    record_number(timeline, "bubbles.idle_us", &idle);
    record_number(timeline, "length_us", &length);
    if (!(idle > 0.01 * length) || !*row.name)
        return;
    time_at(timeline, "bubbles.idle_us", pause);
    time_at(timeline, "bubbles.longest_us", longest);
    time_at(timeline, "bubbles.longest_from", at);
    gantt_row_title(&row, title);
    doc_printf(doc, STYLE_NORMAL,
               _("The row \"%s\" has most to do and stands still for %s of the time between its "
                 "first piece and its last; the longest pause is %s, from %s on."),
               title, pause, longest, at);
    doc_end_line(doc);
}

static void say_notes(const struct timeline_view *view, struct doc *doc, const json_t *timeline,
                      const struct gantt *gantt)
{
    int pageable = record_int(timeline, "pageable_copies"), left = record_int(timeline, "left_out");
    doc_add_str(doc, STYLE_NORMAL, "\n");
    say_bubbles(doc, timeline);
    if (pageable > 0) {
        doc_add_str(doc, STYLE_WARN, "p ");
        doc_printf(
            doc, STYLE_NORMAL,
            _("%d of %d copies are from or to pageable memory: the driver moves them through "
              "a buffer of its own, slower, while the host waits."),
            pageable, record_int(timeline, "copies"));
        doc_end_line(doc)->indent = 2;
    }
    if (gantt->has_graphs) {
        doc_printf(doc, STYLE_NORMAL, _("Kernels: %d, graph launches: %d"),
                   record_int(timeline, "kernels"), record_int(timeline, "graph_launches"));
        doc_add_str(doc, STYLE_DIM, view->keys ? _("; v opens and closes them") : "");
        doc_end_line(doc);
    }
    if (left > 0) {
        doc_printf(doc, STYLE_WARN,
                   _("The picture ends early: %d later pieces are left out; the numbers count them "
                     "all."),
                   left);
        doc_end_line(doc);
    }
}

/* Both sides of a hazard follow each other with the same text. */
static void say_marks(struct doc *doc, const json_t *timeline)
{
    const json_t *marks = record_at(timeline, "marks");
    for (size_t i = 0; i < json_array_size(marks); i++) {
        const json_t *mark = json_array_get(marks, i), *next = json_array_get(marks, i + 1);
        const char *text = record_text(mark, "text");
        int line_no = record_int(mark, "line"), other = record_int(next, "line");
        bool pair = next && strcmp(text, record_text(next, "text")) == 0;
        if (i == 0)
            pane_heading(doc, _("Marks"));
        doc_add_str(doc, STYLE_WARN, "! ");
        if (pair && other != line_no)
            doc_printf(doc, STYLE_STRONG, _("lines %d and %d: "), line_no, other);
        else
            doc_printf(doc, STYLE_STRONG, _("line %d: "), line_no);
        doc_add_str(doc, STYLE_NORMAL, text);
        struct doc_line *line = doc_end_line(doc);
        line->indent = 2;
        line->source_line = line_no;
        i += pair;
    }
}

/* ---- the pieces in view, as a list */

struct piece {
    const struct bar *bar;
    const struct bar_row *row;
};

static int by_time(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->bar->from < b->bar->from || a->bar->from > b->bar->from)
        return a->bar->from < b->bar->from ? -1 : 1;
    return a->row != b->row ? (a->row < b->row ? -1 : 1) : (a->bar < b->bar ? -1 : 1);
}

static size_t pieces_in_view(const struct gantt *gantt, const struct scale *scale,
                             struct piece **out)
{
    size_t all = 0, count = 0;
    for (size_t i = 0; i < gantt->row_count; i++)
        all += gantt->rows[i].count;
    *out = mem_zero(all + 1, sizeof **out);
    for (size_t i = 0; i < gantt->row_count; i++) {
        const struct bar_row *row = &gantt->rows[i];
        for (size_t j = 0; row->role != ROLE_ENGINE && j < row->count; j++)
            if (row->bars[j].to >= scale->from && row->bars[j].from <= scale->to &&
                !(row->role == ROLE_HOST && row->bars[j].kind == GANTT_HOST)) /* its stream's */
                (*out)[count++] = (struct piece){&row->bars[j], row};
    }
    qsort(*out, count, sizeof **out, by_time);
    return count;
}

static void add_piece(struct doc *doc, const struct piece *piece)
{
    const struct bar *bar = piece->bar;
    struct gantt_kind_facts facts = gantt_kind_facts(bar->kind);
    char at[24], lasts[24], title[64], label[96];
    snprintf(at, sizeof at, "%.1f", bar->from);
    snprintf(lasts, sizeof lasts, "%.1f", bar->to - bar->from);
    gantt_row_title(piece->row, title);
    gantt_bar_label(bar, label);
    pane_cell(doc, STYLE_NUMBER, at, 9, true);
    pane_cell(doc, STYLE_NUMBER, lasts, 10, true);
    doc_add_str(doc, STYLE_NORMAL, "  ");
    pane_cell(doc, STYLE_NORMAL, title, 15, false);
    doc_printf(doc, bar->pageable ? STYLE_WARN : facts.style, " %c ",
               bar->pageable ? 'p' : facts.letter);
    doc_add_str(doc, STYLE_NORMAL, *label ? label : facts.words);
    if (bar->line)
        doc_printf(doc, STYLE_DIM, _(", line %d"), bar->line);
    struct doc_line *line = doc_end_line(doc);
    line->indent = 2;
    line->source_line = bar->line;
}

static void add_pieces(const struct timeline_view *view, struct doc *doc, const struct gantt *gantt,
                       const struct scale *scale)
{
    size_t most = view->keys ? PIECES : SIZE_MAX;
    struct piece *pieces;
    size_t count = pieces_in_view(gantt, scale, &pieces);
    if (count) {
        pane_heading(doc, _("Pieces: from (us), lasts, where, what"));
        for (size_t i = 0; i < count && i < most; i++)
            add_piece(doc, &pieces[i]);
        if (count > most)
            doc_printf(doc, STYLE_DIM, _("%zu more; zoom in (+) to see them\n"), count - most);
    }
    free(pieces);
}

/* ---- the whole */

static void add_run_title(struct doc *doc, const char *name, const json_t *run, const char *hint)
{
    char takes[24];
    time_at(run, "length_us", takes);
    doc_add_str(doc, STYLE_HEADING, name);
    pane_pad(doc, text_columns(name, strlen(name)), STRIP_LABEL);
    doc_printf(doc, STYLE_DIM, "%s%s", takes, hint);
    doc_end_line(doc)->keep = true;
}

static void add_chart(const struct timeline_view *view, const json_t *timeline,
                      const struct gantt *yours, const struct scale *scale, struct doc *doc)
{
    bool seen[GANTT_KIND_COUNT] = {false};
    const json_t *baseline = record_at(timeline, "baseline");
    bool can = json_array_size(record_at(baseline, "rows")) > 0;
    struct gantt_unit unit = gantt_unit(yours, scale->to);
    char name[48];
    if (can)
        add_run_title(doc, _("your run"), timeline,
                      view->keys && view->baseline_hidden ? _("; c shows the baseline's") : "");
    add_rows(doc, yours, record_at(timeline, "marks"), scale, seen);
    if (can && !view->baseline_hidden) {
        struct gantt theirs;
        gantt_read(&theirs, timeline, baseline, view->graphs_open);
        add_run_title(doc, _("baseline"), baseline, view->keys ? _("; c hides it") : "");
        add_rows(doc, &theirs, NULL, scale, seen);
        gantt_free(&theirs);
    }
    snprintf(name, sizeof name, yours->is_virtual ? _("virtual %s") : "%s", unit.name);
    timeline_axis(doc, scale, &unit, name);
    timeline_legend(doc, seen);
}

void timeline_host_summary(const json_t *timeline, struct doc *doc)
{
    bool is_virtual = strcmp(record_text(timeline, "unit"), "virtual us") == 0;
    doc_add_str(doc, STYLE_DIM,
                is_virtual ? _("Virtual time: order and overlap are real, lengths come from a "
                               "model of a GPU.")
                           : _("Measured on the device by CUPTI: one run of your code."));
    doc_end_line(doc);
    if (*record_text(timeline, "note")) {
        doc_add_str(doc, STYLE_DIM, record_text(timeline, "note"));
        doc_end_line(doc);
    }
    say_overlap(doc, timeline);
    doc_end_line(doc);
}

void timeline_of_host(const struct timeline_view *view, const json_t *timeline, struct doc *doc,
                      int columns)
{
    struct gantt yours;
    double to, length = 0;
    gantt_read(&yours, timeline, timeline, view->graphs_open);
    to = yours.to;
    if (!view->baseline_hidden && record_number(timeline, "baseline.length_us", &length))
        to = fmax(to, fmin(length, 1e15));
    struct scale scale = scale_choose(view, yours.from, to, columns);
    timeline_host_summary(timeline, doc);
    doc_add_str(doc, STYLE_NORMAL, "\n");
    add_chart(view, timeline, &yours, &scale, doc);
    say_notes(view, doc, timeline, &yours);
    say_marks(doc, timeline);
    add_pieces(view, doc, &yours, &scale);
    gantt_free(&yours);
}
