/* The attempts of this lab, newest first; or the comparison of two of them. */
#include "tui/pane.h"

#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* On the student's clock of that day: the commit keeps its offset. */
static void add_time(struct doc *doc, const struct app_attempt *row)
{
    time_t local = (time_t)(row->time_s + (int64_t)row->offset_minutes * 60);
    struct tm parts;
    char text[32] = "";
    if (gmtime_r(&local, &parts))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
    doc_printf(doc, STYLE_DIM, "%s", text);
}

static void add_row(const struct app *app, struct doc *doc, size_t index, int columns)
{
    const struct app_attempt *row = &app->history[index];
    bool marked = strcmp(app->history_mark, row->id) == 0;
    enum style style;
    const char *mark = verdict_mark_of(row->verdict, &style);
    bool restored = strcmp(row->verdict, "restored") == 0;
    if (restored)
        mark = "<";
    if (row->number > 0 && !restored)
        doc_printf(doc, STYLE_LINE_NUMBER, "%s%4d  ", marked ? "*" : " ", row->number);
    else
        doc_printf(doc, STYLE_LINE_NUMBER, "%s      ", marked ? "*" : " ");
    add_time(doc, row);
    if (*row->verdict)
        doc_printf(doc, style, "  %s %-13s", mark, row->verdict);
    else
        doc_printf(doc, STYLE_DIM, "  %-15s", "");
    doc_printf(doc, STYLE_STRONG, " %6s", row->speedup);
    if (columns > 64)
        doc_printf(doc, STYLE_NORMAL, "  %s", row->subject);
    struct doc_line *line = doc_end_line(doc);
    line->tag = (int32_t)index + 1;
    line->keep = true;
}

static void add_diff(const struct app *app, struct doc *doc)
{
    const char *text = buf_str(&app->text[TEXT_DIFF]), *at = strstr(text, "@@");
    doc_add_str(doc, STYLE_HEADING, app->diff_title);
    doc_add_str(doc, STYLE_DIM, _("   Esc goes back to the list"));
    doc_add_str(doc, STYLE_NORMAL, "\n\n");
    if (!*text)
        pane_paragraph(doc, STYLE_NORMAL, _("The two kernels are equal."));
    while (at && *at) { /* what is above the first "@@" says only which file it is */
        size_t len = strcspn(at, "\n");
        enum style style = *at == '+'   ? STYLE_DIFF_ADD
                           : *at == '-' ? STYLE_DIFF_REMOVE
                           : *at == '@' ? STYLE_DIFF_HUNK
                           : *at == ' ' ? STYLE_NORMAL
                                        : STYLE_DIM;
        doc_add(doc, style, at, len);
        doc_end_line(doc)->keep = true;
        at += len + (at[len] == '\n');
    }
}

void pane_build_history(const struct app *app, struct doc *doc, int columns)
{
    if (app->diff_open) {
        add_diff(app, doc);
        return;
    }
    if (*app->history_problem)
        pane_paragraph(doc, STYLE_WARN, app->history_problem);
    if (app->history_count == 0) {
        pane_paragraph(
            doc, STYLE_DIM,
            _("No attempts yet. Each run is kept here with its verdict, also the ones that "
              "fail; you can look at one, compare two, and put one back."));
        return;
    }
    doc_add_str(doc, STYLE_DIM, "    #  ");
    pane_cell(doc, STYLE_DIM, _("when"), 18, false);
    pane_cell(doc, STYLE_DIM, _("verdict"), 15, false);
    pane_cell(doc, STYLE_DIM, _("speedup"), 7, true);
    doc_end_line(doc)->keep = true;
    for (size_t i = 0; i < app->history_count; i++)
        add_row(app, doc, i, columns);
    if (app->history_more)
        doc_add_str(doc, STYLE_DIM, _("       older ones follow\n"));
}
