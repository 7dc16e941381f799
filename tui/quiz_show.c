#include "quiz.h"

#include "markup.h"

#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

/* What a question has come to: one character, so that it needs no colour. */
static char mark_of(const struct quiz_question *question, enum style *style)
{
    if (question->right) {
        *style = STYLE_PASS;
        return '+';
    }
    if (question->answered && question->predict && !question->measured) {
        *style = STYLE_INFO;
        return '?';
    }
    *style = question->answered ? STYLE_FAIL : STYLE_DIM;
    return question->answered ? 'x' : '.';
}

static void show_head(const struct quiz *quiz, int number, struct doc *doc)
{
    doc_printf(doc, STYLE_DIM, _("Question %d of %d"), number + 1, quiz->count);
    doc_add_str(doc, STYLE_DIM, "   ");
    for (int i = 0; i < quiz->count; i++) {
        enum style style;
        char mark = mark_of(&quiz->questions[i], &style);
        doc_printf(doc, style, i == number ? "[%c]" : "%c", mark);
    }
    doc_end_line(doc);
    doc_end_line(doc);
}

struct view {
    struct doc *doc;
    int columns;
};

static void show_markup(struct view view, const char *text, const char *marker,
                        enum style marker_style, enum style style, int tag)
{
    struct doc *doc = view.doc;
    size_t from = doc->line_count;
    struct markup_options options = {
        .style = style, .columns = view.columns, .marker = marker, .marker_style = marker_style};
    markup_add(doc, text, strlen(text), &options);
    for (size_t i = from; i < doc->line_count; i++)
        doc->lines[i].tag = tag;
}

static bool shows_why(const struct quiz_question *question, int choice)
{
    if (question->predict)
        return question->answered && question->chosen >> choice & 1;
    return question->right || (question->answered && question->chosen >> choice & 1);
}

static void show_choice(const struct quiz_question *question, int index, struct view view)
{
    const struct quiz_choice *choice = &question->choices[index];
    bool chosen = question->chosen >> index & 1;
    bool judged = question->answered && chosen && (!question->predict || question->measured);
    bool good = question->predict ? question->right : choice->right;
    enum style style = !judged ? STYLE_KEY : good ? STYLE_PASS : STYLE_FAIL;
    char marker[16];
    if (question->many)
        snprintf(marker, sizeof marker, "%c [%c] %c) ", judged ? good ? '+' : 'x' : ' ',
                 chosen ? 'x' : ' ', 'a' + index);
    else
        snprintf(marker, sizeof marker, "%c %c) ",
                 judged   ? good ? '+' : 'x'
                 : chosen ? '?'
                          : ' ',
                 'a' + index);
    int tag = QUIZ_TAG_CHOICE + index;
    show_markup(view, choice->text, marker, style, STYLE_NORMAL, tag);
    if (shows_why(question, index))
        show_markup(view, choice->why, "       ", STYLE_DIM, STYLE_QUOTE, tag);
}

static void show_what_decides(const struct quiz_question *question, struct doc *doc)
{
    doc_add_str(doc, STYLE_INFO, "? ");
    if (!question->landmark)
        doc_add_str(doc, STYLE_INFO,
                    _("Your prediction is noted. Run your kernel: the measurement decides."));
    else if (question->without)
        doc_printf(
            doc, STYLE_INFO,
            _("Your prediction is noted. Run a kernel without %s: that measurement decides."),
            question->landmark);
    else
        doc_printf(doc, STYLE_INFO,
                   _("Your prediction is noted. Run a kernel with %s: that measurement decides."),
                   question->landmark);
}

static void show_result(const struct quiz_question *question, struct doc *doc)
{
    doc_end_line(doc);
    if (question->many && !question->answered) {
        doc_printf(doc, STYLE_KEY, "  %s", _("[ check my choices ]"));
        doc_end_line(doc)->tag = QUIZ_TAG_CHECK;
        return;
    }
    if (!question->answered) {
        if (question->predict)
            doc_printf(doc, STYLE_INFO, "%s",
                       _("Predict first, then run your kernel: your own measurement decides."));
        else
            doc_printf(doc, STYLE_DIM, "%s", _("Choose one answer."));
    } else if (question->predict && !question->measured) {
        show_what_decides(question, doc);
    } else if (question->predict) {
        doc_printf(doc, question->right ? STYLE_PASS : STYLE_FAIL, "%c ",
                   question->right ? '+' : 'x');
        doc_printf(doc, STYLE_NORMAL, _("You measured %s."), question->found);
        doc_printf(doc, STYLE_NORMAL, " %s",
                   question->right ? _("As you predicted.") : _("That is not what you predicted."));
    } else if (question->right) {
        doc_printf(doc, STYLE_PASS, "+ %s", _("Right."));
    } else {
        doc_printf(doc, STYLE_FAIL, "x %s",
                   question->many ? _("Not all of it yet. Change your choices and check again.")
                                  : _("Not right. Read why, and choose again."));
    }
    doc_end_line(doc);
}

void quiz_show(const struct quiz *quiz, int number, struct doc *doc, int columns)
{
    const struct view view = {doc, columns};
    if (number < 0 || number >= quiz->count) {
        doc_printf(doc, STYLE_DIM, "%s", _("This lab has no quiz."));
        doc_end_line(doc);
        return;
    }
    const struct quiz_question *question = &quiz->questions[number];
    show_head(quiz, number, doc);
    show_markup(view, question->title, "", STYLE_NORMAL, STYLE_HEADING, 0);
    doc_end_line(doc);
    if (*question->body) {
        show_markup(view, question->body, "", STYLE_NORMAL, STYLE_NORMAL, 0);
        doc_end_line(doc);
    }
    for (int i = 0; i < question->choice_count; i++)
        show_choice(question, i, view);
    show_result(question, doc);
}
