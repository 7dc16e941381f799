/* Any record's timeline becomes text, a picture and a trace: at every width and zoom, without an
 * escape, and without markup that came from the record. */
#include "tui/gantt_file.h"
#include "tui/pane_timeline.h"

#include "harness/base/clean.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show(const json_t *timeline, const struct timeline_view *view, int columns)
{
    struct doc doc = {0};
    timeline_show(view, timeline, &doc, columns);
    for (size_t i = 0; i < doc.line_count; i++) {
        size_t len;
        const char *text = doc_line_text(&doc.lines[i], &len);
        if (!clean_is(text, len))
            abort();
    }
    doc_free(&doc);
}

static void draw(const json_t *timeline)
{
    struct buf svg = {0};
    gantt_svg(timeline, "title <&>", "summary", &svg);
    const char *text = buf_str(&svg);
    if (strstr(text, "<script") || !clean_is(text, svg.len) || strstr(text, "=\"nan") ||
        strstr(text, "=\"-nan") || strstr(text, "=\"inf"))
        abort();
    buf_free(&svg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *timeline = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (!timeline)
        return 0;
    struct timeline_view view = {.keys = true};
    show(timeline, &view, 80);
    view = (struct timeline_view){.zoom = 12, .from = 0.9, .graphs_open = true};
    show(timeline, &view, (int)(size % 300));
    view = (struct timeline_view){.zoom = 3, .from = 0.3, .baseline_hidden = true, .keys = true};
    show(timeline, &view, 600);
    draw(timeline);
    json_t *trace = gantt_trace(timeline, "title");
    char *text = json_dumps(trace, JSON_COMPACT);
    if (!text)
        abort();
    free(text);
    json_decref(trace);
    json_decref(timeline);
    return 0;
}
