/* A timeline out of spans. Measures come from three lists of busy intervals, one per engine (copies
 * to the device, copies back, work on the SMs): merged, so that time in which two kernels ran
 * counts once. The picture is limited to PICTURE spans; measures are of all. */
#include "timeline.h"

#include "harness/base/buf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURE = 2000, MARKS = 64 };

enum engine { ENGINE_H2D, ENGINE_D2H, ENGINE_WORK, ENGINES };

static const char *const engine_names[ENGINES] = {"copy H2D", "copy D2H", "SMs"};

static int engine_of(enum span_kind kind)
{
    switch (kind) {
    case SPAN_H2D:
        return ENGINE_H2D;
    case SPAN_D2H:
        return ENGINE_D2H;
    case SPAN_D2D:
    case SPAN_MEMSET:
    case SPAN_KERNEL:
        return ENGINE_WORK;
    default:
        return -1;
    }
}

/* ---- intervals */

struct interval {
    double from, to;
};

struct intervals { /* merged: sorted, none touches the next */
    struct interval *items;
    size_t count;
    double least; /* the shortest piece before merging */
};

static int by_time(const void *left, const void *right)
{
    const struct span *a = *(const struct span *const *)left;
    const struct span *b = *(const struct span *const *)right;
    if (a->from_us < b->from_us || a->from_us > b->from_us)
        return a->from_us < b->from_us ? -1 : 1;
    return a < b ? -1 : a > b; /* as they came */
}

/* Pointers into spans, by time; free() them. */
static const struct span **sort_spans(const struct spans *spans)
{
    const struct span **sorted = mem_zero(spans->count + 1, sizeof *sorted);
    for (size_t i = 0; i < spans->count; i++)
        sorted[i] = &spans->items[i];
    qsort(sorted, spans->count, sizeof *sorted, by_time);
    return sorted;
}

/* Whatever comes in order of its beginning. */
static void merge_into(struct intervals *list, double from, double to)
{
    struct interval *last = list->count ? &list->items[list->count - 1] : NULL;
    if (last && from <= last->to)
        last->to = fmax(last->to, to);
    else
        list->items[list->count++] = (struct interval){from, to};
}

static struct intervals engine_intervals(const struct span *const *sorted, size_t count,
                                         enum engine engine)
{
    struct intervals list = {.items = mem_zero(count + 1, sizeof *list.items)};
    for (size_t i = 0; i < count; i++) {
        if (engine_of(sorted[i]->kind) != (int)engine)
            continue;
        double lasts = sorted[i]->to_us - sorted[i]->from_us;
        list.least = list.count ? fmin(list.least, lasts) : lasts;
        merge_into(&list, sorted[i]->from_us, sorted[i]->to_us);
    }
    return list;
}

static struct intervals either(const struct intervals *a, const struct intervals *b)
{
    struct intervals list = {.items = mem_zero(a->count + b->count + 1, sizeof *list.items)};
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        bool first = j == b->count || (i < a->count && a->items[i].from <= b->items[j].from);
        const struct interval *next = first ? &a->items[i++] : &b->items[j++];
        merge_into(&list, next->from, next->to);
    }
    return list;
}

static double total(const struct intervals *list)
{
    double sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->items[i].to - list->items[i].from;
    return sum;
}

static double common(const struct intervals *a, const struct intervals *b)
{
    double sum = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        const struct interval *x = &a->items[i], *y = &b->items[j];
        sum += fmax(0, fmin(x->to, y->to) - fmax(x->from, y->from));
        if (x->to < y->to)
            i++;
        else
            j++;
    }
    return sum;
}

/* ---- measures */

static double copies_covered(const struct intervals busy[ENGINES])
{
    struct intervals to = either(&busy[ENGINE_D2H], &busy[ENGINE_WORK]);
    struct intervals back = either(&busy[ENGINE_H2D], &busy[ENGINE_WORK]);
    double sum = common(&busy[ENGINE_H2D], &to) + common(&busy[ENGINE_D2H], &back);
    free(to.items);
    free(back.items);
    return sum;
}

static double work_covered(const struct intervals busy[ENGINES])
{
    struct intervals copies = either(&busy[ENGINE_H2D], &busy[ENGINE_D2H]);
    double sum = common(&busy[ENGINE_WORK], &copies);
    free(copies.items);
    return sum;
}

/* The engine with most to do never waits; before its first piece the shortest piece of those before
 * it has to pass, after its last the shortest of those behind it. */
static double ideal(const struct intervals busy[ENGINES])
{
    double h = total(&busy[ENGINE_H2D]), w = total(&busy[ENGINE_WORK]),
           d = total(&busy[ENGINE_D2H]);
    double first = busy[ENGINE_H2D].least, middle = busy[ENGINE_WORK].least,
           last = busy[ENGINE_D2H].least;
    double longest = h > 0 ? h + middle + last : 0;
    if (w > 0)
        longest = fmax(longest, first + w + last);
    if (d > 0)
        longest = fmax(longest, first + middle + d);
    return longest;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Leaves the distinct ones, in order, at the beginning. */
static unsigned count_distinct(uint32_t *numbers, size_t count)
{
    unsigned kept = 0;
    qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    return kept;
}

static void count_pieces(const struct span *const *sorted, size_t count,
                         struct timeline_measures *out)
{
    uint32_t *graphs = mem_zero(count + 1, sizeof *graphs);
    size_t launched = 0;
    double from = INFINITY, to = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        const struct span *span = sorted[i];
        if (engine_of(span->kind) < 0)
            continue;
        from = fmin(from, span->from_us);
        to = fmax(to, span->to_us);
        if (span->graph)
            graphs[launched++] = span->graph;
        out->kernels += span->kind == SPAN_KERNEL;
        if (span->kind == SPAN_H2D || span->kind == SPAN_D2H) {
            out->copies++;
            out->pageable_copies += span->pageable != 0;
        }
    }
    out->graph_launches = count_distinct(graphs, launched);
    free(graphs);
    out->length_us = to > from ? to - from : 0;
}

static void measure(const struct span *const *sorted, size_t count, struct timeline_measures *out)
{
    struct intervals busy[ENGINES];
    *out = (struct timeline_measures){0};
    for (int i = 0; i < ENGINES; i++)
        busy[i] = engine_intervals(sorted, count, (enum engine)i);
    count_pieces(sorted, count, out);
    out->h2d_us = total(&busy[ENGINE_H2D]);
    out->d2h_us = total(&busy[ENGINE_D2H]);
    out->work_us = total(&busy[ENGINE_WORK]);
    /* What the run did was possible, even where its pieces are no chain of copy, work, copy. */
    out->ideal_us = fmin(ideal(busy), out->length_us);
    double copies = out->h2d_us + out->d2h_us;
    out->overlap = copies > 0 ? copies_covered(busy) / copies : 0;
    out->work_overlap = out->work_us > 0 ? work_covered(busy) / out->work_us : 0;
    for (int i = 0; i < ENGINES; i++)
        free(busy[i].items);
}

void timeline_measure(const struct spans *spans, struct timeline_measures *out)
{
    const struct span **sorted = sort_spans(spans);
    measure(sorted, spans->count, out);
    free(sorted);
}

/* ---- rows */

static json_t *number(double value)
{
    return json_real(round(value * 1000) / 1000); /* a nanosecond is what clocks tell */
}

static void size_text(char *out, size_t len, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit < 3) {
        value /= 1024;
        unit++;
    }
    snprintf(out, len, value >= 100 ? "%.0f %s" : "%.3g %s", value, units[unit]);
}

/* What the times and numbers of a picture are counted from. */
struct origin {
    double us;
    uint32_t graph; /* launches may have been numbered since the process began */
};

static json_t *span_json(const struct span *span, const struct origin *origin)
{
    char label[64] = "";
    json_t *one =
        json_pack("{s:s, s:o, s:o}", "kind", span_kind_name(span->kind), "from",
                  number(span->from_us - origin->us), "to", number(span->to_us - origin->us));
    if (*span->name)
        snprintf(label, sizeof label, "%s", span->name);
    else if (span->bytes)
        size_text(label, sizeof label, span->bytes);
    json_t *text = *label ? json_string(label) : NULL; /* NULL for what is not UTF-8 */
    if (text)
        json_object_set_new(one, "label", text);
    if (span->line > 0)
        json_object_set_new(one, "line", json_integer(span->line));
    if (span->graph)
        json_object_set_new(one, "graph", json_integer(span->graph - origin->graph));
    if (span->pageable)
        json_object_set_new(one, "pageable", json_true());
    return one;
}

/* What is drawn in a row: everything of one stream, of one engine, or of the host. */
struct row {
    int engine; /* -1 for none */
    uint32_t stream;
};

static bool belongs(const struct row *row, const struct span *span)
{
    if (row->engine >= 0)
        return engine_of(span->kind) == row->engine;
    if (row->stream == SPAN_HOST_ROW)
        return span->stream == SPAN_HOST_ROW || span->kind == SPAN_HOST;
    return span->stream == row->stream;
}

/* NULL when nothing belongs to it. */
static json_t *make_row(const char *name, const char *role, const struct row *row,
                        const struct span *const *sorted, size_t count, const struct origin *origin)
{
    json_t *spans = json_array();
    for (size_t i = 0; i < count; i++)
        if (belongs(row, sorted[i]))
            json_array_append_new(spans, span_json(sorted[i], origin));
    if (json_array_size(spans) == 0) {
        json_decref(spans);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:o}", "name", name, "role", role, "spans", spans);
}

static void add_row(json_t *rows, const char *name, const char *role, const struct row *row,
                    const struct span *const *sorted, size_t count, const struct origin *origin)
{
    json_t *made = make_row(name, role, row, sorted, count, origin);
    if (made)
        json_array_append_new(rows, made);
}

static json_t *make_rows(const struct span *const *sorted, size_t count,
                         const struct origin *origin)
{
    json_t *rows = json_array();
    uint32_t *streams = mem_zero(count + 1, sizeof *streams);
    size_t queued = 0;
    for (size_t i = 0; i < count; i++)
        if (sorted[i]->stream != SPAN_HOST_ROW)
            streams[queued++] = sorted[i]->stream;
    unsigned stream_count = count_distinct(streams, queued);
    for (unsigned i = 0; i < stream_count; i++) {
        char name[32] = "default stream";
        struct row row = {-1, streams[i]};
        if (streams[i])
            snprintf(name, sizeof name, "stream %u", streams[i]);
        add_row(rows, name, "stream", &row, sorted, count, origin);
    }
    free(streams);
    for (int i = 0; i < ENGINES; i++) {
        struct row row = {i, 0};
        add_row(rows, engine_names[i], "engine", &row, sorted, count, origin);
    }
    struct row host = {-1, SPAN_HOST_ROW};
    add_row(rows, "host", "host", &host, sorted, count, origin);
    return rows;
}

/* ---- bubbles: where the engine with most to do stood still, between its first piece and its last
 */

static json_t *make_bubbles(const struct span *const *sorted, size_t count, double origin)
{
    struct intervals busiest = {0};
    int engine = 0;
    double most = 0;
    for (int i = 0; i < ENGINES; i++) {
        struct intervals list = engine_intervals(sorted, count, (enum engine)i);
        double sum = total(&list);
        if (sum > most) {
            free(busiest.items);
            busiest = list;
            engine = i;
            most = sum;
        } else {
            free(list.items);
        }
    }
    double idle = 0, longest = 0, from = 0;
    for (size_t i = 1; i < busiest.count; i++) {
        double gap = busiest.items[i].from - busiest.items[i - 1].to;
        idle += gap;
        if (gap > longest) {
            longest = gap;
            from = busiest.items[i - 1].to - origin;
        }
    }
    json_t *out = NULL;
    if (busiest.count)
        out = json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "row", engine_names[engine], "count",
                        (json_int_t)(busiest.count - 1), "idle_us", number(idle), "busy_us",
                        number(most), "longest_from", number(from), "longest_us", number(longest));
    free(busiest.items);
    return out;
}

/* ---- the whole */

json_t *timeline_make(const struct spans *spans, bool virtual_time)
{
    if (!spans->count)
        return NULL;
    const struct span **sorted = sort_spans(spans);
    struct timeline_measures m;
    measure(sorted, spans->count, &m);
    struct origin origin = {sorted[0]->from_us, UINT32_MAX};
    for (size_t i = 0; i < spans->count; i++)
        if (sorted[i]->graph && sorted[i]->graph - 1 < origin.graph)
            origin.graph = sorted[i]->graph - 1;
    size_t shown = spans->count < PICTURE ? spans->count : PICTURE;
    json_t *out = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:i}", "unit",
        virtual_time ? "virtual us" : "us", "rows", make_rows(sorted, shown, &origin), "length_us",
        number(m.length_us), "ideal_us", number(m.ideal_us), "overlap", number(m.overlap),
        "work_overlap", number(m.work_overlap), "h2d_us", number(m.h2d_us), "d2h_us",
        number(m.d2h_us), "work_us", number(m.work_us), "copies", (int)m.copies, "pageable_copies",
        (int)m.pageable_copies, "kernels", (int)m.kernels, "graph_launches", (int)m.graph_launches);
    json_t *bubbles = make_bubbles(sorted, spans->count, origin.us);
    if (bubbles)
        json_object_set_new(out, "bubbles", bubbles);
    if (shown < spans->count)
        json_object_set_new(out, "left_out", json_integer((json_int_t)(spans->count - shown)));
    free(sorted);
    return out;
}

void timeline_set_baseline(json_t *timeline, const json_t *baseline)
{
    json_t *copy = json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)baseline, key, value)
        if (strcmp(key, "unit") != 0 && strcmp(key, "baseline") != 0)
            json_object_set(copy, key, value);
    json_object_set_new(timeline, "baseline", copy);
}

/* ---- marks */

/* The first piece that this line queued, in another row than `not_in` (which may be NULL). */
static const json_t *first_of_line(const json_t *rows, json_int_t line, const char *not_in,
                                   const char **row_name)
{
    const json_t *found = NULL;
    size_t i, j;
    json_t *row, *span;
    json_array_foreach((json_t *)(uintptr_t)rows, i, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        if (strcmp(json_string_value(json_object_get(row, "role")), "engine") == 0 ||
            (not_in && strcmp(name, not_in) == 0))
            continue;
        json_array_foreach(json_object_get(row, "spans"), j, span) {
            if (json_integer_value(json_object_get(span, "line")) != line)
                continue;
            if (!found || json_number_value(json_object_get(span, "from")) <
                              json_number_value(json_object_get(found, "from"))) {
                found = span;
                *row_name = name;
            }
            break;
        }
    }
    return found;
}

static void add_mark(json_t *marks, const json_t *span, const char *row, json_int_t line,
                     const char *text)
{
    if (span && json_array_size(marks) < MARKS)
        json_array_append_new(marks,
                              json_pack("{s:O, s:s, s:s, s:I}", "at", json_object_get(span, "from"),
                                        "row", row, "text", text ? text : "", "line", line));
}

/* What nothing orders lies in two streams, also when one line queued both. */
static void mark_hazard(json_t *marks, const json_t *rows, const json_t *hazard)
{
    json_int_t line = json_integer_value(json_object_get(hazard, "line"));
    json_int_t other_line = json_integer_value(json_object_get(hazard, "other_line"));
    const char *text = json_string_value(json_object_get(hazard, "text"));
    const char *row = NULL, *other_row = NULL;
    const json_t *other = other_line > 0 ? first_of_line(rows, other_line, NULL, &other_row) : NULL;
    const json_t *span = line > 0 ? first_of_line(rows, line, other_row, &row) : NULL;
    if (!span && line > 0 && line != other_line)
        span = first_of_line(rows, line, NULL, &row);
    add_mark(marks, span, row, line, text);
    add_mark(marks, other, other_row, other_line, text);
}

void timeline_mark_hazards(json_t *timeline, const json_t *hazards)
{
    json_t *marks = json_object_get(timeline, "marks");
    size_t i;
    json_t *hazard;
    if (!marks) {
        marks = json_array();
        json_object_set_new(timeline, "marks", marks);
    }
    json_array_foreach((json_t *)(uintptr_t)hazards, i, hazard)
        mark_hazard(marks, json_object_get(timeline, "rows"), hazard);
    if (json_array_size(marks) == 0)
        json_object_del(timeline, "marks");
}
