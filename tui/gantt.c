#include "tui/gantt.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gantt_kind_facts kinds[GANTT_KIND_COUNT] = {
#define X(symbol, name, letter, style, words) {name, letter, STYLE_##style, words},
    GANTT_KINDS(X)
#undef X
};

struct gantt_kind_facts gantt_kind_facts(enum gantt_kind kind)
{
    struct gantt_kind_facts out = kinds[kind];
    out.words = _(out.words);
    return out;
}

static enum gantt_kind kind_of(const char *name)
{
    for (int i = 0; i < GANTT_PAGEABLE; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return (enum gantt_kind)i;
    return GANTT_OTHER;
}

/* ---- reading: by key and not by path, since there may be thousands of bars */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool time_of(const json_t *object, const char *key, double *out)
{
    const json_t *value = json_object_get(object, key);
    *out = json_number_value(value);
    return json_is_number(value) && isfinite(*out) && fabs(*out) < 1e15;
}

static int whole_of(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 && value < 1000000000 ? (int)value : 0;
}

static bool read_bar(struct bar *bar, const json_t *span)
{
    if (!time_of(span, "from", &bar->from) || !time_of(span, "to", &bar->to) || bar->to < bar->from)
        return false;
    bar->kind = kind_of(text_of(span, "kind"));
    bar->label = text_of(span, "label");
    bar->line = whole_of(span, "line");
    bar->graph = whole_of(span, "graph");
    bar->pageable = json_is_true(json_object_get(span, "pageable"));
    bar->pieces = 1;
    return true;
}

/* A piece of the graph launch that the row's last bar is part of becomes part of that bar. */
static bool fold(struct bar_row *row, const struct bar *piece)
{
    struct bar *last = row->count ? &row->bars[row->count - 1] : NULL;
    if (!last || !piece->graph || last->graph != piece->graph)
        return false;
    last->to = fmax(last->to, piece->to);
    last->kind = GANTT_GRAPH;
    last->line = last->line ? last->line : piece->line;
    last->pieces++;
    return true;
}

static enum gantt_role role_of(const char *name)
{
    return strcmp(name, "stream") == 0   ? ROLE_STREAM
           : strcmp(name, "engine") == 0 ? ROLE_ENGINE
           : strcmp(name, "host") == 0   ? ROLE_HOST
                                         : ROLE_OTHER;
}

static void read_row(struct gantt *gantt, struct bar_row *row, const json_t *value,
                     bool open_graphs)
{
    const json_t *spans = json_object_get(value, "spans");
    size_t i;
    json_t *span;
    row->name = text_of(value, "name");
    row->role = role_of(text_of(value, "role"));
    row->bars = mem_zero(json_array_size(spans) + 1, sizeof *row->bars);
    json_array_foreach((json_t *)(uintptr_t)spans, i, span) {
        struct bar *bar = &row->bars[row->count];
        if (!read_bar(bar, span))
            continue;
        gantt->from = fmin(gantt->from, bar->from);
        gantt->to = fmax(gantt->to, bar->to);
        gantt->has_graphs |= bar->graph > 0;
        bool folds = row->role == ROLE_STREAM && !open_graphs;
        if (folds &&
            fold(row,
                 &(struct bar){
                     .from = bar->from, .to = bar->to, .graph = bar->graph, .line = bar->line}))
            continue;
        if (folds && bar->graph)
            bar->kind = GANTT_GRAPH;
        row->count++;
    }
}

void gantt_read(struct gantt *gantt, const json_t *timeline, const json_t *rows_of,
                bool open_graphs)
{
    const json_t *rows = json_object_get(rows_of, "rows");
    const char *unit = text_of(timeline, "unit");
    *gantt = (struct gantt){.steps = strcmp(unit, "steps") == 0,
                            .is_virtual = strcmp(unit, "virtual us") == 0,
                            .from = INFINITY,
                            .to = -INFINITY};
    gantt->rows = mem_zero(json_array_size(rows) + 1, sizeof *gantt->rows);
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)(uintptr_t)rows, i, row)
        read_row(gantt, &gantt->rows[gantt->row_count++], row, open_graphs);
    if (!isfinite(gantt->from))
        gantt->from = gantt->to = 0;
    /* However far it is zoomed, neighbouring columns have to be different numbers. */
    double least = fmax(fabs(gantt->from), fabs(gantt->to)) * 1e-9;
    if (!(gantt->to - gantt->from > least))
        gantt->to = gantt->from + fmax(least, 1);
}

void gantt_free(struct gantt *gantt)
{
    for (size_t i = 0; i < gantt->row_count; i++)
        free(gantt->rows[i].bars);
    free(gantt->rows);
    *gantt = (struct gantt){0};
}

/* ---- words */

void gantt_row_title(const struct bar_row *row, char out[64])
{
    static const char *const known[] = {N_("default stream"), N_("copy H2D"), N_("copy D2H"),
                                        N_("host")};
    unsigned number;
    snprintf(out, 64, "%s", row->name);
    if (row->role == ROLE_OTHER)
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(row->name, known[i]) == 0)
            snprintf(out, 64, "%s", _(known[i]));
    if (sscanf(row->name, "stream %u", &number) == 1)
        snprintf(out, 64, _("stream %u"), number);
}

void gantt_bar_label(const struct bar *bar, char out[96])
{
    if (bar->kind == GANTT_GRAPH)
        snprintf(out, 96, _("graph launch %d: %d pieces"), bar->graph, bar->pieces);
    else
        snprintf(out, 96, "%s", bar->label);
}

/* ---- the axis */

double gantt_tick(double range, double most)
{
    static const double round[] = {1, 2, 5, 10};
    double least = range / fmax(most, 1), power = pow(10, floor(log10(least)));
    for (size_t i = 0; i < sizeof round / sizeof *round; i++)
        if (round[i] * power >= least * (1 - 1e-9))
            return round[i] * power;
    return 10 * power;
}

struct gantt_unit gantt_unit(const struct gantt *gantt, double to)
{
    if (gantt->steps)
        return (struct gantt_unit){1, _("steps")};
    if (to >= 2e6)
        return (struct gantt_unit){1e-6, "s"};
    if (to >= 2e3)
        return (struct gantt_unit){1e-3, "ms"};
    return (struct gantt_unit){1, "us"};
}

void gantt_number(char out[32], const struct gantt_unit *unit, double at, double tick)
{
    double step = tick * unit->factor;
    int digits = step > 0 && step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    double value = at * unit->factor;
    if (fabs(value) < step * 1e-6)
        value = 0; /* no "-0" */
    snprintf(out, 32, "%.*f", digits > 9 ? 9 : digits, value);
}
