/* The timeline of a run as text: a row per stream, engine or tile, time from left to right. What a
 * span is can be told without colour: each kind has its own letter. */
#include "tui/pane.h"

#include "harness/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 14 };

static const struct {
    const char *kind;
    char letter;
    enum style style;
} kinds[] = {
    {"copy", '=', STYLE_INFO},      {"h2d", '>', STYLE_INFO},     {"d2h", '<', STYLE_BUILTIN},
    {"kernel", '#', STYLE_PASS},    {"compute", '#', STYLE_PASS}, {"wait", '.', STYLE_DIM},
    {"barrier", '|', STYLE_WARN},   {"graph", 'G', STYLE_PASS},   {"issue", '+', STYLE_INFO},
    {"memset", 'm', STYLE_BUILTIN}, {"lost", 'x', STYLE_WARN},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int kind_of(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].kind, name) == 0)
            return i;
    return -1;
}

struct scale {
    double from, to;
    int columns;
};

/* May lie outside the columns: the width shows a part of the time. */
static int column_at(const struct scale *scale, double at)
{
    double part = (at - scale->from) / (scale->to - scale->from);
    return (int)lround(fmin(fmax(part, -1), 2) * scale->columns);
}

static void find_range(const json_t *rows, struct scale *scale)
{
    size_t i, j;
    json_t *row, *span;
    bool any = false;
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
        json_array_foreach(json_object_get(row, "spans"), j, span) {
            double from, to;
            if (!record_number(span, "from", &from) || !record_number(span, "to", &to))
                continue;
            scale->from = any ? fmin(scale->from, from) : from;
            scale->to = any ? fmax(scale->to, to) : to;
            any = true;
        }
    if (!any || !(scale->to > scale->from))
        scale->to = scale->from + 1;
}

enum { MOST = 512 };

/* One row of the picture: a letter and a style per column. */
struct strip {
    char letter[MOST];
    uint8_t style[MOST];
    int columns;
};

static void lay(struct strip *strip, int column, char letter, enum style style)
{
    if (column >= 0 && column < strip->columns) {
        strip->letter[column] = letter;
        strip->style[column] = (uint8_t)style;
    }
}

/* What a long bar is, written into it: "== group 1, 4096 bytes =====". */
static void lay_label(struct strip *strip, int from, int to, const char *label)
{
    int len = (int)strlen(label);
    for (int i = 0; i < len; i++)
        if ((unsigned char)label[i] < 0x20 || (unsigned char)label[i] > 0x7e)
            return;
    if (to - from < len + 6) /* its beginning will do */
        len = (int)strcspn(label, ",");
    if (len == 0 || to - from < len + 6)
        return;
    for (int i = -1; i <= len; i++)
        lay(strip, from + 3 + i, i < 0 || i == len ? ' ' : label[i], STYLE_NORMAL);
}

static void lay_span(struct strip *strip, const json_t *span, const struct scale *scale,
                     bool seen[KINDS])
{
    double from = 0, to = 0;
    int kind = kind_of(record_text(span, "kind"));
    record_number(span, "from", &from);
    record_number(span, "to", &to);
    int a = column_at(scale, from), b = column_at(scale, to);
    if (b <= a)
        b = a + 1;
    bool barrier = kind >= 0 && kinds[kind].letter == '|';
    for (int at = a < 0 ? 0 : a; at < b && at < strip->columns; at++)
        lay(strip, at,
            kind < 0  ? '?'
            : barrier ? ':'
                      : kinds[kind].letter,
            kind < 0 || barrier ? STYLE_DIM : kinds[kind].style);
    bool phase = kind >= 0 && kinds[kind].letter == '#' && b - a > 1;
    if (barrier) /* warps arrive one by one; it opens at the end */
        lay(strip, b - 1, '|', kinds[kind].style);
    else
        lay_label(strip, a < 0 ? 0 : a, b < strip->columns ? b : strip->columns,
                  record_text(span, "label"));
    if (phase) /* two phases of work would run together */
        lay(strip, b - 1, '|', STYLE_DIM);
    if (kind >= 0)
        seen[kind] = true;
}

static bool is_wait(const json_t *mark)
{
    return strcmp(record_text(mark, "row"), "wait") == 0;
}

/* What is marked in this row lies over its spans. */
static void lay_marks(struct strip *strip, const json_t *marks, const char *row,
                      const struct scale *scale)
{
    size_t i;
    json_t *mark;
    json_array_foreach((json_t *)(uintptr_t)marks, i, mark) {
        double at = 0;
        if (strcmp(record_text(mark, "row"), row) != 0 || !record_number(mark, "at", &at))
            continue;
        int column = column_at(scale, at);
        lay(strip, column == strip->columns ? column - 1 : column, is_wait(mark) ? 'w' : '!',
            is_wait(mark) ? STYLE_KEY : STYLE_WARN);
    }
}

static void add_strip(struct doc *doc, const struct strip *strip, const char *name)
{
    int used;
    size_t len = text_fit(name, strlen(name), LABEL - 1, &used);
    doc_add(doc, STYLE_NORMAL, name, len);
    pane_pad(doc, used, LABEL);
    for (int at = 0; at < strip->columns;) {
        int end = at;
        while (end < strip->columns && strip->style[end] == strip->style[at])
            end++;
        doc_add(doc, (enum style)strip->style[at], strip->letter + at, (size_t)(end - at));
        at = end;
    }
    doc_end_line(doc)->keep = true;
}

static void start_strip(struct strip *strip, const struct scale *scale)
{
    *strip = (struct strip){.columns = scale->columns < MOST ? scale->columns : MOST};
    memset(strip->letter, ' ', sizeof strip->letter);
}

static void add_row(struct doc *doc, const json_t *row, const json_t *marks,
                    const struct scale *scale, bool seen[KINDS])
{
    struct strip strip;
    size_t i;
    json_t *span;
    start_strip(&strip, scale);
    json_array_foreach(json_object_get(row, "spans"), i, span)
        lay_span(&strip, span, scale, seen);
    lay_marks(&strip, marks, record_text(row, "name"), scale);
    add_strip(doc, &strip, record_text(row, "name"));
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
    start_strip(&strip, scale);
    lay_marks(&strip, marks, row, scale);
    add_strip(doc, &strip, title);
}

static void add_axis(struct doc *doc, const struct scale *scale, const char *unit)
{
    char from[32], to[32];
    snprintf(from, sizeof from, "%.4g", scale->from);
    snprintf(to, sizeof to, "%.4g %s", scale->to, unit);
    doc_printf(doc, STYLE_DIM, "%*s%s", LABEL, "", from);
    pane_pad(doc, LABEL + (int)strlen(from), LABEL + scale->columns - (int)strlen(to));
    doc_printf(doc, STYLE_DIM, "%s", to);
    doc_end_line(doc)->keep = true;
}

static void add_marks(struct doc *doc, const json_t *timeline)
{
    size_t i;
    json_t *mark;
    json_array_foreach((json_t *)(uintptr_t)record_at(timeline, "marks"), i, mark) {
        double at = 0;
        record_number(mark, "at", &at);
        bool wait = is_wait(mark);
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

void pane_build_timeline(const struct app *app, struct doc *doc, int columns)
{
    const json_t *timeline = record_at(app_record(app), "timeline");
    const json_t *rows = record_at(timeline, "rows");
    struct scale scale = {.columns = columns - LABEL > 8 ? columns - LABEL : 8};
    bool seen[KINDS] = {false};
    if (json_array_size(rows) == 0) {
        pane_paragraph(
            doc, STYLE_DIM,
            _("After a run of a kernel with asynchronous copies, this shows one block: each "
              "tile's copy from its start to its landing, each wait, and the computing."));
        return;
    }
    find_range(rows, &scale);
    double whole = scale.to - scale.from;
    scale.from += app->from * whole;
    scale.to = scale.from + whole / (1 << app->zoom);
    bool steps = strcmp(record_text(timeline, "unit"), "steps") == 0;
    pane_paragraph(
        doc, STYLE_DIM,
        steps ? _("One block in the simulator, in program steps: order and overlap are real, "
                  "lengths are not times.")
              : _("Measured on the device."));
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
        add_row(doc, row, record_at(timeline, "marks"), &scale, seen);
    const json_t *marks = record_at(timeline, "marks");
    add_mark_row(doc, marks, "wait", _("waits"), &scale);
    add_mark_row(doc, marks, "hazard", _("hazards"), &scale);
    add_axis(doc, &scale, steps ? _("steps") : "us");
    doc_add_str(doc, STYLE_NORMAL, "\n");
    for (int kind = 0; kind < KINDS; kind++)
        if (seen[kind]) {
            doc_printf(doc, kinds[kind].style, "%c ", kinds[kind].letter);
            doc_printf(doc, STYLE_DIM, "%s   ", kinds[kind].kind);
        }
    if (doc->open)
        doc_end_line(doc);
    add_marks(doc, timeline);
}
