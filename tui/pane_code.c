/* The student's kernel as it is now (or as it was, out of the history), with line numbers, a bar
 * along the region that is theirs to change, and below a line what the last run said about it. */
#include "tui/pane.h"

#include "harness/base/clean.h"
#include "harness/base/msg.h"
#include "tui/highlight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In front of the code stand its number, a mark and the bar of the region. Where all of the code
 * fits if mark and bar share one column, and the column's edges are used too, they do. */
enum { MARGIN = 6, NARROW = PANE_CODE_MARK + 1 };

/* What the record says about one line. `text` is borrowed from the record. */
struct remark {
    int line;
    enum style style;
    const char *mark, *text;
};

enum { REMARKS = 64, REMARK_BYTES = 320 };

struct remarks {
    struct remark remark[REMARKS];
    int count;
};

static void add_remark(struct remarks *remarks, int line, enum style style, const char *mark,
                       const char *text)
{
    for (int i = 0; i < remarks->count; i++)
        if (remarks->remark[i].line == line && strcmp(remarks->remark[i].text, text) == 0)
            return;
    if (line > 0 && remarks->count < REMARKS)
        remarks->remark[remarks->count++] = (struct remark){line, style, mark, text};
}

static void collect(struct remarks *remarks, const json_t *record, struct doc *doc)
{
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)record_at(record, "build.diagnostics"), i, one) {
        const char *severity = record_text(one, "severity");
        bool error = strcmp(severity, "error") == 0, warning = strcmp(severity, "warning") == 0;
        add_remark(remarks, record_int(one, "line"),
                   error     ? STYLE_FAIL
                   : warning ? STYLE_WARN
                             : STYLE_DIM,
                   error     ? "E"
                   : warning ? "W"
                             : "i",
                   record_text(one, "text"));
    }
    json_array_foreach((json_t *)(uintptr_t)record_at(record, "hazards"), i, one) {
        add_remark(remarks, record_int(one, "line"), STYLE_WARN, "!", record_text(one, "text"));
        int line = record_int(one, "line"), other = record_int(one, "other_line");
        if (other != line) /* its text stands at the first line */
            add_remark(
                remarks, other, STYLE_WARN, "!",
                arena_printf(&doc->arena, _("%s, with line %d"), record_text(one, "kind"), line));
    }
    json_array_foreach((json_t *)(uintptr_t)record_at(record, "cases"), i, one)
        add_remark(remarks, record_int(one, "fault.line"), STYLE_FAIL, "F",
                   record_text(one, "fault.text"));
}

static void add_margin(struct doc *doc, int number, const struct remarks *remarks, bool own,
                       bool narrow)
{
    const struct remark *found = NULL;
    for (int i = 0; i < remarks->count && !found; i++)
        if (remarks->remark[i].line == number)
            found = &remarks->remark[i];
    doc_printf(doc, STYLE_LINE_NUMBER, "%3d", number);
    if (found || !narrow)
        doc_add_str(doc, found ? found->style : STYLE_NORMAL, found ? found->mark : " ");
    if (!found || !narrow)
        doc_add_str(doc, STYLE_BORDER_FOCUS, own ? "▎" : " ");
    if (!narrow)
        doc_add_str(doc, STYLE_NORMAL, " ");
    doc_set_tab_origin(doc);
}

static void add_remarks(struct doc *doc, int number, const struct remarks *remarks, int margin)
{
    for (int i = 0; i < remarks->count; i++) {
        const struct remark *remark = &remarks->remark[i];
        if (remark->line != number)
            continue;
        doc_printf(doc, STYLE_NORMAL, "%*s", margin, "");
        doc_printf(doc, remark->style, "%s ", remark->mark);
        size_t len = strlen(remark->text);
        bool cut = len > REMARK_BYTES; /* the whole of it stands in Correctness */
        char *text = mem_printf("%.*s%s", (int)(cut ? utf8_whole(remark->text, REMARK_BYTES) : len),
                                remark->text, cut ? "…" : "");
        pane_hang(doc, remark->style, text, margin + 2, number);
        free(text);
    }
}

/* Remarks belong to the text that was judged; after an edit their lines may be others. */
static bool is_judged(const struct app *app)
{
    return app->past_number || !app->kernel_changed;
}

void pane_build_code(const struct app *app, struct doc *doc, int columns)
{
    const struct buf *kernel = &app_exhibit(app)->kernel;
    struct remarks remarks = {.count = 0};
    struct highlight state = {0};
    const char *at = buf_str(kernel), *end = at + kernel->len;
    int widest = highlight_columns(at, kernel->len);
    bool own = false;
    bool narrow = widest + MARGIN > columns && widest + NARROW <= columns + PANE_CODE_EDGES;
    if (is_judged(app))
        collect(&remarks, app_record(app), doc);
    doc->tab_size = 4;
    if (kernel->len == 0)
        pane_paragraph(
            doc, STYLE_DIM,
            _("Your kernel appears here once a lab is open; e opens it in your editor."));
    for (int number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = newline ? (size_t)(newline - at) : (size_t)(end - at);
        if (memmem(at, len, "// <<< your code", 16))
            own = false;
        add_margin(doc, number, &remarks, own, narrow);
        if (memmem(at, len, "// >>> your code", 16))
            own = true;
        highlight_line(doc, LANGUAGE_CUDA, &state, at, len);
        struct doc_line *line = doc_end_line(doc);
        line->keep = true;
        line->source_line = number;
        add_remarks(doc, number, &remarks, narrow ? NARROW : MARGIN);
        at += len + (newline != NULL);
    }
}
