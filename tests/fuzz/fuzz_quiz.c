/* Quizzes: any text is read or refused with a line; what was read can be answered, saved and shown.
 */
#include "fuzz_doc.h"

#include "tui/quiz.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answer_all(struct quiz *quiz)
{
    json_t *record = json_pack("{s:{s:{s:f}}, s:{s:i}}", "timing", "speedup", "median", 1.25,
                               "resources", "registers", 40);
    for (int question = 0; question < quiz->count; question++) {
        for (int choice = 0; choice < quiz->questions[question].choice_count; choice++) {
            struct doc doc = {0};
            quiz_choose(quiz, question, choice);
            quiz_check(quiz, question);
            quiz_measure(quiz, record);
            quiz_show(quiz, question, &doc, 80);
            check_doc(&doc);
            doc_free(&doc);
        }
    }
    json_decref(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct quiz quiz = {0}, again = {0};
    struct buf problems = {0};
    bool good = quiz_parse(&quiz, "quiz.md", (const char *)data, size, &problems);
    must(good == (problems.len == 0));
    must(problems.len == 0 || strncmp(problems.data, "quiz.md:", 8) == 0);
    answer_all(&quiz);
    json_t *state = quiz_to_json(&quiz);
    quiz_parse(&again, "quiz.md", (const char *)data, size, NULL);
    quiz_from_json(&again, state);
    json_t *back = quiz_to_json(&again);
    must(json_equal(state, back));
    must(quiz_score(&again) == quiz_score(&quiz));
    json_decref(state);
    json_decref(back);
    buf_free(&problems);
    quiz_free(&quiz);
    quiz_free(&again);
    return 0;
}
