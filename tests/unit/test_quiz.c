/* Quizzes: the format with its complaints, answering, measuring, saving, and what is shown. */
#include "tui/quiz.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "doc_dump.h"

static const char good[] =
    "# Quiz: x\n\nIntro.\n\n"
    "## 1. Which `wait`?\n\n```cuda\n## no question\n- [ ] no choice\n```\n\n"
    "- [ ] all\n  of them\n  > Too many.\n  > Really.\n- [x] one\n\n  > Right.\n\n"
    "## 2. Which two?\n- [X] a\n  > yes a\n- [ ] b\n  > no b\n- [x] c\n  > yes c\n\n"
    "## 3. How fast?\n\npredict: timing.speedup.median 1.1, 1.3\n\n"
    "- [ ] slow\n  > hm\n- [ ] medium\n  > good\n- [ ] fast\n  > wow\n\n"
    "## 4. What comes?\npredict: hazards.0.kind race in-flight\n"
    "- [ ] race\n  > r\n- [ ] in flight\n  > f\n";

static void parse_good(struct quiz *quiz)
{
    struct buf problems = {0};
    if (!quiz_parse(quiz, "quiz.md", good, sizeof good - 1, &problems))
        fail_msg("%s", buf_str(&problems));
    assert_int_equal(problems.len, 0);
    assert_int_equal(quiz->count, 4);
    buf_free(&problems);
}

static void a_good_quiz_is_read(void **state)
{
    (void)state;
    struct quiz quiz = {0};
    parse_good(&quiz);
    const struct quiz_question *first = &quiz.questions[0], *third = &quiz.questions[2];
    assert_string_equal(first->title, "Which `wait`?");
    assert_string_equal(first->body, "```cuda\n## no question\n- [ ] no choice\n```");
    assert_int_equal(first->choice_count, 2);
    assert_string_equal(first->choices[0].text, "all\nof them");
    assert_string_equal(first->choices[0].why, "Too many.\nReally.");
    assert_true(first->choices[1].right);
    assert_int_equal(first->line, 5);
    assert_false(first->many);
    assert_true(quiz.questions[1].many);
    assert_string_equal(third->predict, "timing.speedup.median");
    assert_int_equal(third->limit_count, 2);
    assert_true(third->limits[1] > 1.29 && third->limits[1] < 1.31);
    assert_int_equal(quiz.questions[3].value_count, 2);
    assert_string_equal(quiz.questions[3].values[1], "in-flight");
    quiz_free(&quiz);
}

static void problems_have_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } table[] = {
        {"", "q:1: no questions"},
        {"## 2. a\n- [x] b\n  > c\n- [ ] d\n  > e\n", "q:1: this is question 1, but it says 2"},
        {"## a\n- [x] b\n  > c\n- [ ] d\n  > e\n", "q:1: write a question as"},
        {"\n## 1.\n- [x] b\n  > c\n- [ ] d\n  > e\n", "q:2: question 1 has no text"},
        {"## 1. a\n- [x] b\n  > c\n", "q:1: question 1 needs at least two choices"},
        {"## 1. a\n- [ ] b\n  > c\n- [ ] d\n  > e\n", "q:1: question 1 has no right choice"},
        {"## 1. a\n- [x] b\n- [ ] d\n  > e\n", "q:3: choice 1 of question 1 has no reason"},
        {"## 1. a\n- [x] b\n  > c\n- [ ]\n  > e\n", "q:5: choice 2 of question 1 has no text"},
        {"## 1. a\n- [x] b\n> c\n- [ ] d\n  > e\n", "q:3: text behind the choices"},
        {"## 1. a\n- [x] b\n  > c\n  d\n- [ ] d\n  > e\n", "q:4: a choice's reason ends here"},
        {"## 1. a\npredict: x.y\n- [ ] b\n  > c\n- [ ] d\n  > e\n", "q:2: predict: needs a path"},
        {"## 1. a\npredict: x 1\n- [x] b\n  > c\n- [ ] d\n  > e\n",
         "q:1: question 1 is decided by a meas"},
        {"## 1. a\npredict: x 1 2\n- [ ] b\n  > c\n- [ ] d\n  > e\n",
         "q:1: question 1 has 2 choices, so"},
        {"## 1. a\npredict: x 1 y\n- [ ] b\n  > c\n- [ ] d\n  > e\n",
         "q:2: predict: \"y\" is not a number"},
        {"## 1. a\npredict: x 2 1\n- [ ] b\n  > c\n- [ ] d\n  > e\n- [ ] f\n  > g\n",
         "q:1: the numbers of question 1's predict: must rise"},
        {"## 1. a\npredict: x 1\nwith:\n- [ ] b\n  > c\n- [ ] d\n  > e\n",
         "q:3: with: and without: need"},
        {"## 1. a\npredict: x 1\npredict: y 1\n- [ ] b\n  > c\n- [ ] d\n  > e\n",
         "q:3: question 1 has a second"},
        {"## 1. a\n```\n- [x] b\n  > c\n", "q:4: a code fence of question 1 is not closed"},
        {"## 1. a\n- [x] 1\n  > c\n- [ ] 2\n  > c\n- [ ] 3\n  > c\n- [ ] 4\n  > c\n- [ ] 5\n  > "
         "c\n- [ ] 6\n"
         "  > c\n- [ ] 7\n  > c\n- [ ] 8\n  > c\n- [ ] 9\n  > c\n",
         "q:18: question 1 has more than 8 choices"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct quiz quiz = {0};
        struct buf problems = {0};
        assert_false(quiz_parse(&quiz, "q", table[i].text, strlen(table[i].text), &problems));
        if (!strstr(buf_str(&problems), table[i].want))
            fail_msg("case %zu: got \"%s\", want \"%s\"", i, buf_str(&problems), table[i].want);
        assert_int_equal(quiz.count, 0);
        assert_false(quiz_parse(&quiz, "q", table[i].text, strlen(table[i].text), NULL));
        quiz_free(&quiz);
        buf_free(&problems);
    }
}

static void one_bad_question_leaves_the_others(void **state)
{
    (void)state;
    static const char text[] = "## 1. a\n- [ ] b\n  > c\n\n## 2. d\n- [x] e\n  > f\n- [ ] g\n  > h";
    struct quiz quiz = {0};
    assert_false(quiz_parse(&quiz, "q", text, sizeof text - 1, NULL));
    assert_int_equal(quiz.count, 1);
    assert_string_equal(quiz.questions[0].choices[1].why, "h");
    quiz_free(&quiz);
}

static void answering(void **state)
{
    (void)state;
    struct quiz quiz = {0};
    parse_good(&quiz);
    assert_true(quiz_choose(&quiz, 0, 0));
    assert_true(quiz.questions[0].answered);
    assert_false(quiz.questions[0].right);
    assert_false(quiz_choose(&quiz, 0, 0));
    assert_true(quiz_choose(&quiz, 0, 1));
    assert_true(quiz.questions[0].right);
    assert_int_equal(quiz.questions[0].tries, 2);
    assert_false(quiz_choose(&quiz, 0, 0));
    assert_false(quiz_choose(&quiz, 0, 7));
    assert_false(quiz_choose(&quiz, 9, 0));
    assert_false(quiz_choose(&quiz, -1, 0));
    assert_false(quiz_check(&quiz, 1));
    quiz_choose(&quiz, 1, 0);
    quiz_choose(&quiz, 1, 1);
    assert_true(quiz_check(&quiz, 1));
    assert_false(quiz.questions[1].right);
    assert_false(quiz_check(&quiz, 1));
    quiz_choose(&quiz, 1, 1);
    quiz_choose(&quiz, 1, 2);
    assert_true(quiz_check(&quiz, 1));
    assert_true(quiz.questions[1].right);
    assert_int_equal(quiz_score(&quiz), 2);
    assert_int_equal(quiz_next_open(&quiz, 0), 2);
    assert_int_equal(quiz_next_open(&quiz, 3), 3);
    quiz_free(&quiz);
}

static void measure(struct quiz *quiz, const char *record, bool changed)
{
    json_t *json = json_loads(record, 0, NULL);
    assert_non_null(json);
    assert_int_equal(quiz_measure(quiz, json), changed);
    json_decref(json);
}

static void measurements_decide_predictions(void **state)
{
    (void)state;
    struct quiz quiz = {0};
    parse_good(&quiz);
    const struct quiz_question *speed = &quiz.questions[2], *kind = &quiz.questions[3];
    measure(&quiz, "{\"timing\": {\"speedup\": {\"median\": 1.2}}}", false);
    assert_false(speed->answered);
    assert_true(quiz_choose(&quiz, 2, 2));
    assert_true(speed->answered && !speed->measured && !speed->right);
    assert_true(quiz_choose(&quiz, 2, 1));
    measure(&quiz, "{}", false);
    measure(&quiz, "[]", false);
    measure(&quiz, "{\"timing\": {\"speedup\": {\"median\": \"fast\"}}}", false);
    measure(&quiz, "{\"timing\": {\"speedup\": {\"median\": 1.3}}}", true);
    assert_true(speed->measured && !speed->right);
    assert_string_equal(speed->found, "1.3");
    measure(&quiz, "{\"timing\": {\"speedup\": {\"median\": 1.3}}}", false);
    measure(&quiz, "{\"timing\": {\"speedup\": {\"median\": 1.1}}}", true);
    assert_true(speed->right);
    measure(&quiz, "{\"timing\": {\"speedup\": {\"median\": 9}}}", false);
    assert_false(quiz_choose(&quiz, 2, 0));
    quiz_choose(&quiz, 3, 0);
    measure(&quiz, "{\"hazards\": [{\"kind\": \"other\"}]}", true);
    assert_false(kind->right);
    quiz_choose(&quiz, 3, 1);
    measure(&quiz, "{\"hazards\": [{\"kind\": \"in-flight\"}]}", true);
    assert_true(kind->right);
    assert_int_equal(kind->tries, 2);
    quiz_free(&quiz);
}

/* Which kernels decide, and which times say nothing. */
static void only_the_kernel_in_question_decides(void **state)
{
    (void)state;
    static const char text[] = "## 1. a\npredict: timing.x 1\nwith: cp.async\n- [ ] b\n  > c\n"
                               "- [ ] d\n  > e\n\n## 2. f\npredict: timing.x 1\n"
                               "without: cp.async\n- [ ] g\n  > h\n- [ ] i\n  > j\n";
    struct quiz quiz = {0};
    struct buf problems = {0};
    if (!quiz_parse(&quiz, "q", text, sizeof text - 1, &problems))
        fail_msg("%s", buf_str(&problems));
    const struct quiz_question *with = &quiz.questions[0], *without = &quiz.questions[1];
    assert_string_equal(with->landmark, "cp.async");
    assert_true(!with->without && without->without);
    assert_string_equal(with->body, "");
    quiz_choose(&quiz, 0, 1);
    quiz_choose(&quiz, 1, 1);
    measure(&quiz, "{\"timing\":{\"x\":2}}", false);
    measure(&quiz, "{\"timing\":{\"x\":2},\"landmarks\":[{\"name\":\"cp.async\"}]}", false);
    measure(&quiz, "{\"timing\":{\"x\":2},\"landmarks\":[{\"name\":\"cp.async\",\"found\":3}]}",
            true);
    assert_true(with->right && !without->measured);
    measure(&quiz,
            "{\"timing\":{\"x\":2,\"verdict\":\"too-noisy\"},"
            "\"landmarks\":[{\"name\":\"cp.async\",\"found\":0}]}",
            false);
    measure(&quiz,
            "{\"timing\":{\"x\":0.5,\"verdict\":\"same\"},"
            "\"landmarks\":[{\"name\":\"cp.async\",\"found\":0}]}",
            true);
    assert_true(without->measured && !without->right);
    quiz_free(&quiz);
    buf_free(&problems);
}

static void progress_goes_out_and_in(void **state)
{
    (void)state;
    struct quiz quiz = {0}, again = {0};
    parse_good(&quiz);
    parse_good(&again);
    quiz_choose(&quiz, 0, 0);
    quiz_choose(&quiz, 1, 0);
    quiz_choose(&quiz, 1, 2);
    quiz_check(&quiz, 1);
    quiz_choose(&quiz, 2, 1);
    measure(&quiz, "{\"timing\": {\"speedup\": {\"median\": 1.25}}}", true);
    json_t *saved = quiz_to_json(&quiz);
    char *text = json_dumps(saved, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text,
                        "{\"1\":{\"chosen\":[0],\"right\":false,\"tries\":1},"
                        "\"2\":{\"chosen\":[0,2],\"right\":true,\"tries\":1},"
                        "\"3\":{\"chosen\":[1],\"found\":\"1.25\",\"right\":true,\"tries\":1}}");
    quiz_from_json(&again, saved);
    json_t *back = quiz_to_json(&again);
    assert_true(json_equal(saved, back));
    json_decref(saved);
    json_decref(back);
    free(text);
    static const char *const broken[] = {"{}",
                                         "[]",
                                         "3",
                                         "{\"1\": 4}",
                                         "{\"1\": {\"chosen\": 4}}",
                                         "{\"1\": {\"chosen\": [0], \"right\": true}}",
                                         "{\"1\": {\"chosen\": [99, -1, \"x\"], \"right\": true}}",
                                         "{\"9\": {\"chosen\": [0]}}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct quiz fresh = {0};
        parse_good(&fresh);
        json_t *json = json_loads(broken[i], JSON_DECODE_ANY, NULL);
        assert_non_null(json);
        quiz_from_json(&fresh, json);
        assert_int_equal(quiz_score(&fresh), 0);
        json_decref(json);
        quiz_free(&fresh);
    }
    quiz_free(&quiz);
    quiz_free(&again);
}

static void check_shown(const struct quiz *quiz, int question, const char *want)
{
    struct doc doc = {0};
    struct buf have = {0};
    quiz_show(quiz, question, &doc, 0);
    dump_text(&have, &doc);
    if (strcmp(buf_str(&have), want) != 0)
        fail_msg("\n--- got\n%s--- want\n%s", buf_str(&have), want);
    buf_free(&have);
    doc_free(&doc);
}

static void what_is_shown(void **state)
{
    (void)state;
    struct quiz quiz = {0};
    parse_good(&quiz);
    check_shown(&quiz, 1,
                "Question 2 of 4   .[.]..\n\nWhich two?\n\n  [ ] a) a\n  [ ] b) b\n  [ ] c) c\n\n"
                "  [ check my choices ]\n");
    quiz_choose(&quiz, 0, 0);
    check_shown(
        &quiz, 0,
        "Question 1 of 4   [x]...\n\nWhich wait?\n\n 1  ## no question\n 2  - [ ] no choice\n\n"
        "x a) all of them\n       Too many. Really.\n  b) one\n\n"
        "x Not right. Read why, and choose again.\n");
    quiz_choose(&quiz, 1, 0);
    check_shown(&quiz, 1,
                "Question 2 of 4   x[.]..\n\nWhich two?\n\n  [x] a) a\n  [ ] b) b\n  [ ] c) c\n\n"
                "  [ check my choices ]\n");
    quiz_choose(&quiz, 2, 1);
    check_shown(
        &quiz, 2,
        "Question 3 of 4   x.[?].\n\nHow fast?\n\n  a) slow\n? b) medium\n       good\n"
        "  c) fast\n\n? Your prediction is noted. Run your kernel: the measurement decides.\n");
    measure(&quiz, "{\"timing\": {\"speedup\": {\"median\": 1.25}}}", true);
    check_shown(&quiz, 2,
                "Question 3 of 4   x.[+].\n\nHow fast?\n\n  a) slow\n+ b) medium\n       good\n"
                "  c) fast\n\n+ You measured 1.25. As you predicted.\n");
    struct doc doc = {0};
    quiz_show(&quiz, 1, &doc, 0);
    assert_int_equal(doc.lines[5].tag, QUIZ_TAG_CHOICE + 1);
    assert_int_equal(doc.lines[5].indent, 9);
    assert_int_equal(doc.lines[doc.line_count - 1].tag, QUIZ_TAG_CHECK);
    doc_free(&doc);
    check_shown(&quiz, 4, "This lab has no quiz.\n");
    quiz_free(&quiz);
}

/* The course's own quizzes, in both languages. */
static void the_courses_quizzes_are_valid(void **state)
{
    (void)state;
    glob_t files;
    if (glob("lessons/*/quiz*.md", 0, NULL, &files) != 0)
        skip();
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct quiz quiz = {0};
        struct buf text = {0}, problems = {0};
        struct err err = {0};
        assert_true(file_read(&text, files.gl_pathv[i], 1 << 20, &err));
        if (!quiz_parse(&quiz, files.gl_pathv[i], buf_str(&text), text.len, &problems))
            fail_msg("\n%s", buf_str(&problems));
        assert_true(quiz.count > 0);
        for (int question = 0; question < quiz.count; question++) {
            struct doc doc = {0};
            quiz_show(&quiz, question, &doc, 0);
            assert_true(doc.line_count > 5);
            doc_free(&doc);
        }
        quiz_free(&quiz);
        buf_free(&text);
        buf_free(&problems);
    }
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_quiz_is_read),
        cmocka_unit_test(problems_have_lines),
        cmocka_unit_test(one_bad_question_leaves_the_others),
        cmocka_unit_test(answering),
        cmocka_unit_test(measurements_decide_predictions),
        cmocka_unit_test(only_the_kernel_in_question_decides),
        cmocka_unit_test(progress_goes_out_and_in),
        cmocka_unit_test(what_is_shown),
        cmocka_unit_test(the_courses_quizzes_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
