/* A strip is a row of letters, one per column; see pane_timeline.h. */
#include "tui/pane_timeline.h"

#include "harness/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct scale scale_choose(const struct timeline_view *view, double from, double to, int columns)
{
    struct scale scale = {.columns = columns - STRIP_LABEL};
    if (scale.columns < 8)
        scale.columns = 8;
    if (scale.columns > STRIP_MOST)
        scale.columns = STRIP_MOST;
    scale.from = from + view->from * (to - from);
    scale.to = scale.from + (to - from) / (1 << view->zoom);
    return scale;
}

int scale_column(const struct scale *scale, double at)
{
    double part = (at - scale->from) / (scale->to - scale->from);
    return (int)lround(fmin(fmax(part, -1), 2) * scale->columns);
}

void strip_start(struct strip *strip, const struct scale *scale)
{
    strip->columns = scale->columns;
    memset(strip->letter, ' ', sizeof strip->letter);
    memset(strip->style, STYLE_NORMAL, sizeof strip->style);
    memset(strip->share, 0, sizeof strip->share);
}

void strip_lay(struct strip *strip, int column, char letter, enum style style)
{
    if (column >= 0 && column < strip->columns) {
        strip->letter[column] = letter;
        strip->style[column] = (uint8_t)style;
    }
}

void strip_label(struct strip *strip, int from, int to, const char *label)
{
    int len = (int)strnlen(label, STRIP_MOST);
    from = from < 0 ? 0 : from;
    to = to < strip->columns ? to : strip->columns;
    for (int i = 0; i < len; i++)
        if ((unsigned char)label[i] < 0x20 || (unsigned char)label[i] > 0x7e)
            return;
    if (to - from < len + 6) /* its beginning will do */
        len = (int)strcspn(label, ",(:");
    if (len == 0 || to - from < len + 6)
        return;
    for (int i = -1; i <= len; i++)
        strip_lay(strip, from + 3 + i, i < 0 || i == len ? ' ' : label[i], STYLE_NORMAL);
}

bool mark_is_wait(const json_t *mark)
{
    return strcmp(record_text(mark, "row"), "wait") == 0;
}

void strip_marks(struct strip *strip, const json_t *marks, const char *row,
                 const struct scale *scale)
{
    size_t i;
    json_t *mark;
    json_array_foreach((json_t *)(uintptr_t)marks, i, mark) {
        double at = 0;
        if (strcmp(record_text(mark, "row"), row) != 0 || !record_number(mark, "at", &at))
            continue;
        int column = scale_column(scale, at);
        bool wait = mark_is_wait(mark);
        strip_lay(strip, column == strip->columns ? column - 1 : column, wait ? 'w' : '!',
                  wait ? STYLE_KEY : STYLE_WARN);
    }
}

void strip_add(struct doc *doc, const struct strip *strip, const char *title)
{
    int used;
    size_t len = text_fit(title, strlen(title), STRIP_LABEL - 1, &used);
    doc_add(doc, STYLE_NORMAL, title, len);
    pane_pad(doc, used, STRIP_LABEL);
    for (int at = 0; at < strip->columns;) {
        int end = at;
        while (end < strip->columns && strip->style[end] == strip->style[at])
            end++;
        doc_add(doc, (enum style)strip->style[at], strip->letter + at, (size_t)(end - at));
        at = end;
    }
    doc_end_line(doc)->keep = true;
}

void timeline_axis(struct doc *doc, const struct scale *scale, const struct gantt_unit *unit,
                   const char *name)
{
    enum { APART = 9 };
    const int ticks = scale->columns / APART;
    double range = scale->to - scale->from, tick = gantt_tick(range, ticks);
    char line[STRIP_MOST + 1];
    memset(line, ' ', sizeof line);
    int used = 0;
    for (double n = ceil(scale->from / tick - 1e-9); n * tick <= scale->to; n++) {
        char text[32];
        int column = scale_column(scale, n * tick);
        gantt_number(text, unit, n * tick, tick);
        int len = (int)strlen(text);
        if (column < used || column + 1 + len > scale->columns) {
            if (column >= used && column < scale->columns)
                line[column] = '|';
            continue;
        }
        line[column] = '|';
        memcpy(line + column + 1, text, (size_t)len);
        used = column + len + 2;
    }
    size_t fits = text_fit(name, strlen(name), STRIP_LABEL - 1, &used);
    doc_add(doc, STYLE_DIM, name, fits);
    pane_pad(doc, used, STRIP_LABEL);
    doc_add(doc, STYLE_DIM, line, (size_t)scale->columns);
    doc_end_line(doc)->keep = true;
}

void timeline_legend(struct doc *doc, const bool seen[GANTT_KIND_COUNT])
{
    for (int kind = 0; kind < GANTT_KIND_COUNT; kind++) {
        struct gantt_kind_facts facts = gantt_kind_facts((enum gantt_kind)kind);
        if (!seen[kind])
            continue;
        doc_printf(doc, facts.style, "%c ", facts.letter);
        doc_printf(doc, STYLE_DIM, "%s   ", facts.words);
    }
    if (doc->open)
        doc_end_line(doc);
}
