/* The quiz without a screen: questions on standard output, answers from standard input, one a line.
 */
#include "cli_core.h"

#include "quiz.h"

#include "harness/base/msg.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void print_doc(const struct doc *doc)
{
    for (size_t i = 0; i < doc->line_count; i++) {
        const struct doc_line *line = &doc->lines[i];
        size_t len;
        const char *text = doc_line_text(line, &len);
        say_text(text, len);
        say("\n");
    }
}

static void print_question(const struct quiz *quiz, int number)
{
    struct doc doc = {0};
    quiz_show(quiz, number, &doc, 0);
    while (doc.line_count && doc.lines[doc.line_count - 1].tag == QUIZ_TAG_CHECK)
        doc.line_count--; /* a button of the screen */
    print_doc(&doc);
    doc_free(&doc);
}

static bool load(struct cli *cli, const struct labfile *lab, struct quiz *quiz)
{
    struct buf text = {0}, problems = {0};
    struct err err = {0};
    bool ok = library_read_text(&cli->library, lab, LIBRARY_QUIZ, &text, NULL, &err);
    if (!ok) {
        complain("%s", err.text);
    } else if (!quiz_parse(quiz, "quiz", buf_str(&text), text.len, &problems) && quiz->count == 0) {
        complain("%s", buf_str(&problems));
        ok = false;
    }
    buf_free(&text);
    buf_free(&problems);
    return ok;
}

/* Predictions are decided by the last attempt's record, where there is one. */
static void measure(struct cli *cli, const struct labfile *lab, struct quiz *quiz)
{
    struct history_entry last;
    struct buf text = {0};
    struct err err = {0};
    if (!cli->library.writable || !history_open(&cli->history, cli->library.work, NULL, &err))
        return;
    if (history_find(cli->history, lab->slug, "last", &last, NULL) &&
        history_read(cli->history, lab->slug, last.id, HISTORY_RECORD, &text, NULL)) {
        json_t *record = attempt_load_record(text.data, text.len);
        if (record)
            quiz_measure(quiz, record);
        json_decref(record);
    }
    buf_free(&text);
}

static bool save(struct cli *cli, const struct labfile *lab, const struct quiz *quiz)
{
    struct err err = {0};
    json_t *all = library_load_state(&cli->library, "quiz", NULL);
    json_object_set_new(all, lab->slug, quiz_to_json(quiz));
    bool ok = !cli->library.writable || library_save_state(&cli->library, "quiz", all, &err);
    if (!ok)
        complain("%s", err.text);
    json_decref(all);
    return ok;
}

void cli_quiz_decide(struct cli *cli, const struct labfile *lab, const json_t *record)
{
    struct quiz quiz = {0};
    json_t *all = library_load_state(&cli->library, "quiz", NULL);
    const json_t *answers = json_object_get(all, lab->slug);
    struct buf text = {0};
    if (json_object_size(answers) > 0 &&
        library_read_text(&cli->library, lab, LIBRARY_QUIZ, &text, NULL, NULL)) {
        quiz_parse(&quiz, "quiz", buf_str(&text), text.len, NULL);
        quiz_from_json(&quiz, answers);
        if (quiz_measure(&quiz, record))
            save(cli, lab, &quiz);
    }
    quiz_free(&quiz);
    buf_free(&text);
    json_decref(all);
}

/* The choice that a character names, by number or letter; -1 for none. */
static int choice_of(const struct quiz_question *question, char name)
{
    int choice = name >= '1' && name <= '9'     ? name - '1'
                 : isalpha((unsigned char)name) ? tolower((unsigned char)name) - 'a'
                                                : -1;
    return choice < question->choice_count ? choice : -1;
}

/* What the line names: one choice, or several where several are right ("ac", "a, c"), as bits. 0
 * when anything else stands in it: what was meant is asked again, not guessed. */
static uint32_t read_choices(const struct quiz_question *question, const char *line)
{
    uint32_t chosen = 0;
    int count = 0;
    for (const char *at = line; *at; at++) {
        if (strchr(" \t\r", *at) || (*at == ',' && question->many))
            continue;
        int choice = choice_of(question, *at);
        if (choice < 0)
            return 0;
        chosen |= 1u << choice;
        count++;
    }
    return count == 1 || question->many ? chosen : 0;
}

static bool choose(struct quiz *quiz, int number, const char *line)
{
    const struct quiz_question *question = &quiz->questions[number];
    uint32_t chosen = read_choices(question, line);
    uint32_t before = question->many ? question->chosen : 0;
    for (int i = 0; i < question->choice_count; i++)
        if ((chosen ^ before) & (1u << i) && chosen)
            quiz_choose(quiz, number, i);
    if (chosen && question->many)
        quiz_check(quiz, number);
    return chosen != 0;
}

static bool is_done(const struct quiz_question *question)
{
    return question->answered && (question->right || (question->predict && !question->measured));
}

/* One question until it is answered; false at the end of input or at "q". */
static bool ask(struct quiz *quiz, int number)
{
    char *line = NULL;
    size_t size = 0;
    bool going = true;
    print_question(quiz, number);
    while (going && !is_done(&quiz->questions[number])) {
        say(_("> a to %c, s to skip, q to quit: "), 'a' + quiz->questions[number].choice_count - 1);
        fflush(stdout);
        if (getline(&line, &size, stdin) < 0) {
            say("\n");
            going = false;
            break;
        }
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(line, "q") == 0) {
            going = false;
        } else if (strcmp(line, "s") == 0) {
            break;
        } else if (choose(quiz, number, line)) {
            say("\n");
            print_question(quiz, number);
        } else {
            say("%s\n", _("that is none of the choices"));
        }
    }
    free(line);
    return going;
}

int cli_quiz(struct cli *cli)
{
    const struct labfile *lab = cli_lab(cli, cli->arguments[0]);
    struct quiz quiz = {0};
    struct err notice = {0};
    if (!lab)
        return CLI_USAGE;
    if (!load(cli, lab, &quiz)) {
        quiz_free(&quiz);
        return CLI_BROKEN_LAB;
    }
    json_t *all = library_load_state(&cli->library, "quiz", &notice);
    if (*notice.text)
        complain("%s", notice.text);
    quiz_from_json(&quiz, json_object_get(all, lab->slug));
    json_decref(all);
    measure(cli, lab, &quiz);
    bool going = true, saved = true;
    for (int i = 0; going && i < quiz.count; i++) {
        if (is_done(&quiz.questions[i]))
            continue;
        going = ask(&quiz, i);
        saved = save(cli, lab, &quiz);
    }
    say(_("%d of %d questions answered right\n"), quiz_score(&quiz), quiz.count);
    quiz_free(&quiz);
    return saved ? CLI_OK : CLI_FAILED;
}
