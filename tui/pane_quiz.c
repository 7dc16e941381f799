/* The quiz, one question at a time: quiz.c shows it, this adds where to go from here. */
#include "tui/pane.h"

#include "harness/base/msg.h"

#include <string.h>

/* A prediction about times stays open where nothing is timed: better said than waited for. */
static void add_untimed(const struct app *app, struct doc *doc)
{
    const struct quiz_question *question = &app->quiz.questions[app->question];
    const char *why = pane_skipped_why(app_record(app), "time");
    if (*why && question->answered && !question->measured && question->predict &&
        strncmp(question->predict, "timing.", strlen("timing.")) == 0)
        doc_printf(doc, STYLE_DIM, _("Your last run was not timed: %s\n"), why);
}

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
    size_t lines = doc->line_count;
    pane_to_do(app, doc);
    if (doc->line_count == lines) /* what is still to do says it too */
        add_untimed(app, doc);
}
