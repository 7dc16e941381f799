/* The outline of the course: every lab with what the student reached in it. Narrow beside other
 * panes, with summaries when it has the width for itself. */
#include "tui/done.h"
#include "tui/pane.h"

#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

enum { ROOMY = 48 };

static void add_title(struct doc *doc, const char *title, bool open, int columns)
{
    int used;
    size_t len = strlen(title), fits = text_fit(title, len, columns, &used);
    enum style style = open ? STYLE_STRONG : STYLE_NORMAL;
    if (fits < len) {
        fits = text_fit(title, len, columns - 1, &used);
        doc_add(doc, style, title, fits);
        doc_add_str(doc, style, "…");
        used++;
    } else {
        doc_add(doc, style, title, len);
    }
    doc_printf(doc, STYLE_NORMAL, "%*s", columns - used, "");
}

/* What was reached: the best verdict's mark, and with room its name and speedup. A pass that leaves
 * something to do has a mark of its own. */
static void add_reached(const struct app *app, struct doc *doc, const struct labfile *lab,
                        bool roomy)
{
    const json_t *progress = json_object_get(app->progress, lab->slug);
    const char *best = record_text(progress, "best");
    double speedup;
    enum style style;
    if (!*best)
        best = record_text(progress, "verdict");
    const char *mark = *best ? verdict_mark_of(best, &style) : " ";
    if (!*best)
        style = STYLE_DIM;
    if (done_in_part(lab, progress, json_object_get(app->quiz_state, lab->slug))) {
        best = _("in part");
        mark = DONE_IN_PART_MARK;
        style = STYLE_INFO;
    }
    doc_printf(doc, style, " %s", *best ? mark : "·");
    if (roomy) {
        doc_add_str(doc, style, " ");
        pane_cell(doc, style, *best ? best : _("not tried yet"), 13, false);
    }
    if (roomy && record_number(progress, "speedup", &speedup))
        doc_printf(doc, STYLE_DIM, " %.2fx", speedup);
}

static void add_to_do(const struct app *app, struct doc *doc, const struct labfile *lab)
{
    const json_t *progress = json_object_get(app->progress, lab->slug);
    struct buf text = {0};
    if (progress)
        done_say(lab, progress, json_object_get(app->quiz_state, lab->slug), &text);
    if (text.len) {
        doc_printf(doc, STYLE_INFO, "   %s", buf_str(&text));
        doc_end_line(doc)->indent = 3;
    }
    buf_free(&text);
}

static void add_lab(const struct app *app, struct doc *doc, unsigned index, int columns)
{
    const struct labfile *lab = app->labs[index];
    bool roomy = columns >= ROOMY, open = app->lab_open && app->lab == index;
    int title_columns = columns - 3 - (roomy ? 24 : 2);
    doc_printf(doc, open ? STYLE_KEY : STYLE_LINE_NUMBER, "%2u%s", lab->order, open ? "•" : " ");
    add_title(doc, lab_text_get(&lab->title), open, title_columns > 8 ? title_columns : 8);
    add_reached(app, doc, lab, roomy);
    struct doc_line *line = doc_end_line(doc);
    line->tag = (int32_t)index + 1;
    line->keep = true;
    if (!roomy)
        return;
    doc_printf(doc, STYLE_DIM, "   %s", lab_text_get(&lab->summary));
    doc_end_line(doc)->indent = 3;
    add_to_do(app, doc, lab);
    doc_add_str(doc, STYLE_NORMAL, "\n");
}

void pane_build_course(const struct app *app, struct doc *doc, int columns)
{
    if (columns >= ROOMY) {
        doc_add_str(doc, STYLE_HEADING, _("Performance programming in CUDA C"));
        doc_add_str(doc, STYLE_NORMAL, "\n\n");
        pane_paragraph(
            doc, STYLE_NORMAL,
            _("Each lab: read the lesson, change the kernel in your own editor, and see at "
              "once whether it is right, how fast it is and what the machine code looks "
              "like. Every attempt is kept."));
    }
    for (unsigned i = 0; i < app->lab_count; i++)
        add_lab(app, doc, i, columns);
    if (app->lab_count == 0)
        pane_paragraph(doc, STYLE_WARN, _("There are no labs here: kernels/ is empty."));
    if (columns >= ROOMY && !app->lab_open)
        pane_paragraph(doc, STYLE_INFO, _("Arrow keys choose, Enter opens, ? shows all keys."));
}
