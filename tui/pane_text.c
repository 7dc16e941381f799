/* Panes that hand a whole text to the module that knows its language: lesson, listings, quiz. */
#include "tui/pane.h"

#include "harness/base/msg.h"
#include "tui/highlight.h"

void pane_build_lesson(const struct app *app, struct doc *doc, int columns)
{
    const struct buf *text = &app->text[TEXT_LESSON];
    (void)columns;
    if (text->len == 0)
        pane_paragraph(doc, STYLE_DIM, _("Choose a lab in the course (o) and press Enter."));
    doc_add(doc, STYLE_NORMAL, buf_str(text), text->len);
}

static void build_listing(struct doc *doc, const struct buf *text, enum language language)
{
    const struct highlight_options options = {.numbers = false};
    if (text->len == 0)
        pane_paragraph(doc, STYLE_DIM,
                       _("After a run this shows the listing of the very binary that ran."));
    else
        highlight_code(doc, language, buf_str(text), text->len, &options);
}

void pane_build_ptx(const struct app *app, struct doc *doc, int columns)
{
    (void)columns;
    build_listing(doc, &app_exhibit(app)->ptx, LANGUAGE_PTX);
}

void pane_build_sass(const struct app *app, struct doc *doc, int columns)
{
    (void)columns;
    build_listing(doc, &app_exhibit(app)->sass, LANGUAGE_SASS);
}

void pane_build_quiz(const struct app *app, struct doc *doc, int columns)
{
    const struct buf *text = &app->text[TEXT_QUIZ];
    (void)columns;
    doc_add(doc, STYLE_NORMAL, buf_str(text), text->len);
}
