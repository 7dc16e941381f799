/* The quiz, one question at a time: quiz.c shows it, this adds where to go from here. */
#include "tui/pane.h"

#include "harness/base/msg.h"

void pane_build_quiz(const struct app *app, struct doc *doc, int columns)
{
    if (app->quiz.count == 0) {
        pane_paragraph(doc, STYLE_DIM, _("The quiz appears here once a lab is open."));
        return;
    }
    quiz_show(&app->quiz, app->question, doc, columns);
    if (quiz_score(&app->quiz) == app->quiz.count)
        doc_add_str(doc, STYLE_PASS, _("All questions are answered right.\n"));
    else if (app->quiz.questions[app->question].right)
        doc_add_str(doc, STYLE_INFO, _("Enter goes to the next question.\n"));
    doc_add_str(doc, STYLE_NORMAL, "\n");
    pane_to_do(app, doc);
}
