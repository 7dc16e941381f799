/* The quiz, one question at a time: quiz.c shows it, this adds where to go from here. */
#include "tui/done.h"
#include "tui/pane.h"

#include "harness/base/msg.h"

/* What the lab asks for beside a pass; most ask for nothing. */
static void add_to_do(const struct app *app, struct doc *doc)
{
    const struct labfile *lab = app_lab(app);
    struct buf text = {0};
    if (lab)
        done_say(lab, json_object_get(app->progress, lab->slug),
                 json_object_get(app->quiz_state, lab->slug), &text);
    if (text.len)
        pane_paragraph(doc, STYLE_INFO, buf_str(&text));
    buf_free(&text);
}

void pane_build_quiz(const struct app *app, struct doc *doc, int columns)
{
    (void)columns;
    if (app->quiz.count == 0) {
        pane_paragraph(doc, STYLE_DIM, _("The quiz appears here once a lab is open."));
        return;
    }
    quiz_show(&app->quiz, app->question, doc);
    doc_add_str(doc, STYLE_NORMAL, "\n");
    add_to_do(app, doc);
    if (quiz_score(&app->quiz) == app->quiz.count)
        doc_add_str(doc, STYLE_PASS, _("All questions are answered right.\n"));
    else if (app->quiz.questions[app->question].right)
        doc_add_str(doc, STYLE_INFO, _("Enter goes to the next question.\n"));
}
