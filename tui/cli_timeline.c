/* timeline: what an attempt's run did and when, as text, a picture or a trace. */
#include "cli_core.h"

#include "gantt_file.h"
#include "pane_timeline.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS = 100, COLUMNS_LEAST = 60 };

static int columns_of_output(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return COLUMNS;
    return size.ws_col < COLUMNS_LEAST ? COLUMNS_LEAST : size.ws_col;
}

static void add_doc(struct buf *out, const struct doc *doc)
{
    for (size_t i = 0; i < doc->line_count; i++) {
        size_t len;
        const char *text = doc_line_text(&doc->lines[i], &len);
        while (len && text[len - 1] == ' ')
            len--;
        buf_add(out, text, len);
        buf_add_char(out, '\n');
    }
}

static void print_text(const json_t *timeline, const char *title)
{
    struct timeline_view view = {.graphs_open = false};
    struct doc doc = {0};
    struct buf text = {0};
    timeline_show(&view, timeline, &doc, columns_of_output());
    add_doc(&text, &doc);
    say("%s\n\n", title);
    say_text(buf_str(&text), text.len);
    buf_free(&text);
    doc_free(&doc);
}

/* To the file, or to standard output for "-". */
static bool put_file(const char *path, const struct buf *text)
{
    struct err err = {0};
    if (strcmp(path, "-") == 0) {
        fwrite(buf_str(text), 1, text->len, stdout);
        return true;
    }
    if (file_write(path, buf_str(text), text->len, false, &err))
        return true;
    complain("%s", err.text);
    return false;
}

static bool put_svg(const json_t *timeline, const char *title, const char *path)
{
    struct doc doc = {0};
    struct buf summary = {0}, text = {0};
    timeline_summary(timeline, &doc);
    add_doc(&summary, &doc);
    gantt_svg(timeline, title, buf_str(&summary), &text);
    bool ok = put_file(path, &text);
    buf_free(&summary);
    buf_free(&text);
    doc_free(&doc);
    return ok;
}

static bool put_trace(const json_t *timeline, const char *title, const char *path)
{
    struct buf text = {0};
    json_t *trace = gantt_trace(timeline, title);
    char *dump = json_dumps(trace, JSON_COMPACT | JSON_REAL_PRECISION(15));
    buf_add_str(&text, dump ? dump : "{}");
    buf_add_char(&text, '\n');
    bool ok = put_file(path, &text);
    buf_free(&text);
    free(dump);
    json_decref(trace);
    return ok;
}

static int put(struct cli *cli, const struct labfile *lab, int attempt, const json_t *record)
{
    const json_t *timeline = json_object_get(record, "timeline");
    char title[200];
    snprintf(title, sizeof title, "%s #%d: %s", lab->slug, attempt, lab_text_get(&lab->title));
    bool ok = true;
    if (cli->svg)
        ok = put_svg(timeline, title, cli->svg) && ok;
    if (cli->trace)
        ok = put_trace(timeline, title, cli->trace) && ok;
    if (cli->json) {
        json_t *out = json_pack("{s:s, s:i, s:O}", "lab", lab->slug, "attempt", attempt, "timeline",
                                (json_t *)(uintptr_t)timeline);
        say_json(out);
        json_decref(out);
    } else if (!cli->svg && !cli->trace) {
        print_text(timeline, title);
    }
    return ok ? CLI_OK : CLI_FAILED;
}

/* Why there is nothing to draw, and what to do. */
static int nothing_to_draw(const struct labfile *lab, int attempt, const json_t *record)
{
    const char *why = pane_skipped_why(record, "timeline");
    if (*why)
        complain(_("attempt %d has no timeline: %s"), attempt, why);
    else
        complain(_("attempt %d has no timeline; `stride run %s` makes an attempt, `stride log %s` "
                   "lists them"),
                 attempt, lab->slug, lab->slug);
    return CLI_NOT_PASSED;
}

static json_t *read_record(struct cli *cli, const struct labfile *lab,
                           const struct history_entry *entry)
{
    struct buf text = {0};
    struct err err = {0};
    json_t *record = NULL;
    if (!history_read(cli->history, lab->slug, entry->id, HISTORY_RECORD, &text, &err))
        complain("%s", err.text);
    else if (!(record = attempt_load_record(buf_str(&text), text.len)))
        complain(_("the record of %s cannot be read"), entry->subject);
    buf_free(&text);
    return record;
}

int cli_timeline(struct cli *cli)
{
    const struct labfile *lab = cli_lab(cli, cli->arguments[0]);
    const char *name = cli->argument_count > 1 ? cli->arguments[1] : "last";
    struct history_entry entry;
    struct err err = {0};
    if (!lab)
        return CLI_USAGE;
    if (!cli_open_history(cli))
        return CLI_FAILED;
    if (!history_find(cli->history, lab->slug, name, &entry, &err)) {
        if (cli->argument_count > 1)
            complain("%s", err.text);
        else
            complain(_("there is no attempt yet: `stride run %s` makes the first"), lab->slug);
        return CLI_USAGE;
    }
    json_t *record = read_record(cli, lab, &entry);
    if (!record)
        return CLI_FAILED;
    bool drawn = json_array_size(record_at(record, "timeline.rows")) > 0;
    int status =
        drawn ? put(cli, lab, entry.attempt, record) : nothing_to_draw(lab, entry.attempt, record);
    json_decref(record);
    return status;
}
