/* The format is Google's "Trace Event Format": complete events (X) with microseconds, metadata (M)
 * for names. On one track, events may nest but not overlap by halves: where bars of a row do, they
 * go to further tracks of the same name. */
#include "tui/gantt_file.h"

#include "harness/base/clean.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

enum { LANES = 16, TRACKS = 32 }; /* per row; track numbers of a row begin at multiples */

struct lanes {
    double free_from[LANES];
    int used;
};

/* The first lane that is free; the last one takes what fits nowhere. */
static int take_lane(struct lanes *lanes, double from, double to)
{
    int lane = 0;
    while (lane < lanes->used && lane + 1 < LANES && lanes->free_from[lane] > from)
        lane++;
    if (lane == lanes->used)
        lanes->used++;
    lanes->free_from[lane] = to;
    return lane;
}

static json_t *text_json(const char *text)
{
    struct buf clean = {0};
    clean_line(&clean, text, strlen(text));
    json_t *value = json_string(buf_str(&clean));
    buf_free(&clean);
    return value ? value : json_string("?");
}

static void add_name(json_t *events, const char *what, int process, int track, const char *name)
{
    json_array_append_new(events, json_pack("{s:s, s:s, s:i, s:i, s:f, s:{s:o}}", "ph", "M", "name",
                                            what, "pid", process, "tid", track, "ts", 0.0, "args",
                                            "name", text_json(name)));
}

static void add_order(json_t *events, const char *what, const char *key, int process, int track,
                      int order)
{
    json_array_append_new(events,
                          json_pack("{s:s, s:s, s:i, s:i, s:f, s:{s:i}}", "ph", "M", "name", what,
                                    "pid", process, "tid", track, "ts", 0.0, "args", key, order));
}

static void add_bar(json_t *events, const struct bar *bar, int process, int track)
{
    struct gantt_kind_facts facts = gantt_kind_facts(bar->kind);
    char label[96];
    json_t *args = json_object();
    gantt_bar_label(bar, label);
    if (bar->line)
        json_object_set_new(args, "line", json_integer(bar->line));
    if (bar->graph)
        json_object_set_new(args, "graph", json_integer(bar->graph));
    if (bar->pageable)
        json_object_set_new(args, "pageable", json_true());
    json_array_append_new(events, json_pack("{s:s, s:o, s:s, s:i, s:i, s:f, s:f, s:o}", "ph", "X",
                                            "name", text_json(*label ? label : facts.words), "cat",
                                            *facts.name ? facts.name : "other", "pid", process,
                                            "tid", track, "ts", bar->from, "dur",
                                            bar->to - bar->from, "args", args));
}

static void add_row(json_t *events, const struct bar_row *row, const struct bar_row *closed,
                    int process, int first_track)
{
    struct lanes lanes = {0};
    char title[64];
    /* A graph launch is longer than each of its pieces, and stands around those in its lane. */
    for (size_t i = 0; i < closed->count; i++)
        if (closed->bars[i].kind == GANTT_GRAPH)
            add_bar(events, &closed->bars[i], process, first_track);
    for (size_t i = 0; i < row->count; i++)
        add_bar(events, &row->bars[i], process,
                first_track + take_lane(&lanes, row->bars[i].from, row->bars[i].to));
    gantt_row_title(row, title);
    for (int lane = 0; lane < lanes.used || lane == 0; lane++) {
        add_name(events, "thread_name", process, first_track + lane, title);
        add_order(events, "thread_sort_index", "sort_index", process, first_track + lane,
                  first_track + lane);
    }
}

static void add_marks(json_t *events, const json_t *marks, const struct gantt *gantt, int process)
{
    size_t i;
    json_t *mark;
    json_array_foreach((json_t *)(uintptr_t)marks, i, mark) {
        const json_t *at = json_object_get(mark, "at");
        const char *row = json_string_value(json_object_get(mark, "row"));
        const char *text = json_string_value(json_object_get(mark, "text"));
        int track = 0;
        for (size_t j = 0; row && j < gantt->row_count; j++)
            if (strcmp(gantt->rows[j].name, row) == 0)
                track = (int)(j + 1) * TRACKS;
        if (json_is_number(at) && text)
            json_array_append_new(events, json_pack("{s:s, s:o, s:s, s:i, s:i, s:f, s:s}", "ph",
                                                    "i", "name", text_json(text), "cat", "mark",
                                                    "pid", process, "tid", track, "ts",
                                                    json_number_value(at), "s", track ? "t" : "p"));
    }
}

static void add_run(json_t *events, const json_t *timeline, const json_t *run, int process,
                    const char *name)
{
    struct gantt open, closed;
    gantt_read(&open, timeline, run, true);
    gantt_read(&closed, timeline, run, false);
    add_name(events, "process_name", process, 0, name);
    add_order(events, "process_sort_index", "sort_index", process, 0, process);
    for (size_t i = 0; i < open.row_count; i++)
        add_row(events, &open.rows[i], &closed.rows[i], process, (int)(i + 1) * TRACKS);
    add_marks(events, json_object_get(run, "marks"), &open, process);
    gantt_free(&open);
    gantt_free(&closed);
}

json_t *gantt_trace(const json_t *timeline, const char *title)
{
    json_t *events = json_array();
    const json_t *baseline = json_object_get(timeline, "baseline");
    const char *unit = json_string_value(json_object_get(timeline, "unit"));
    add_run(events, timeline, timeline, 1, _("your run"));
    if (baseline)
        add_run(events, timeline, baseline, 2, _("baseline"));
    return json_pack("{s:o, s:s, s:{s:o, s:o}}", "traceEvents", events, "displayTimeUnit", "ns",
                     "otherData", "title", text_json(title), "unit", text_json(unit ? unit : ""));
}
