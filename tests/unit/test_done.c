/* When a lab counts as done: what records and answers leave open, and how that is said. */
#include "harness/base/buf.h"
#include "tui/done.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(text) ((char *)(uintptr_t)(text))

static struct lab_done conditions[] = {
    {STEP_MEASURED_WITHOUT, TEXT("cp.async"), 0},
    {STEP_MEASURED_WITH, TEXT("cp.async"), 0},
    {STEP_ANSWERED, NULL, 10},
    {STEP_ANSWERED, NULL, 11},
};
static const struct labfile asks = {.done = conditions, .done_count = 4}, plain = {0};

#define FOUND(n)                                                                                   \
    "\"landmarks\":[{\"name\":\"other\",\"found\":9},{\"name\":\"cp.async\",\"found\":" n "}]"
#define TIMED(verdict) "\"timing\":{\"speedup\":{\"median\":1.4},\"verdict\":\"" verdict "\"}"

static void note(json_t *progress, const char *record)
{
    json_t *json = json_loads(record, 0, NULL);
    assert_non_null(json);
    done_note(&asks, progress, json);
    json_decref(json);
}

static void check_open(const json_t *progress, const char *answers, const char *want)
{
    json_t *json = json_loads(answers, 0, NULL);
    char open[8] = "";
    for (unsigned i = 0; i < asks.done_count; i++)
        open[i] = done_is_open(&asks, i, progress, json) ? 'o' : '.';
    assert_string_equal(open, want);
    json_decref(json);
}

static void both_versions_have_to_be_measured(void **state)
{
    (void)state;
    json_t *progress = json_object();
    static const char *const nothing[] = {
        "{}",
        "[]",
        "{\"verdict\":\"pass\"," FOUND("0") "}",
        "{\"verdict\":\"wrong\"," FOUND("0") "," TIMED("faster") "}",
        "{\"verdict\":\"pass\"," FOUND("0") "," TIMED("too-noisy") "}",
        "{\"verdict\":\"pass\"," TIMED("faster") "}",
        "{\"verdict\":\"pass\",\"landmarks\":[7,{\"name\":\"cp.async\",\"found\":\"2\"}]," TIMED(
            "same") "}",
    };
    check_open(NULL, "{}", "oooo");
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        note(progress, nothing[i]);
        check_open(progress, "{}", "oooo");
    }
    note(progress, "{\"verdict\":\"pass\"," FOUND("2") "," TIMED("slower") "}");
    check_open(progress, "{}", "o.oo");
    note(progress, "{\"verdict\":\"pass\"," FOUND("0") "," TIMED("same") "}");
    check_open(progress, "{}", "..oo");
    note(progress, "{\"verdict\":\"no-build\"}"); /* what was measured stays so */
    check_open(progress, "{}", "..oo");
    json_decref(progress);
}

static void questions_have_to_be_answered(void **state)
{
    (void)state;
    json_t *progress = json_object();
    check_open(progress, "{\"10\":{\"chosen\":[0],\"right\":false}}", "oooo");
    check_open(progress, "{\"10\":{\"right\":false,\"found\":\"1.2\"}}", "oo.o"); /* a prediction */
    check_open(progress, "{\"11\":{\"right\":false}}", "oooo");
    check_open(progress, "{\"11\":{\"right\":true}}", "ooo.");
    json_decref(progress);
}

static void done_needs_a_pass_and_all_of_it(void **state)
{
    (void)state;
    json_t *none = json_object(),
           *answers = json_loads("{\"10\":{\"found\":\"1\"},\"11\":{\"right\":true}}", 0, NULL);
    json_t *progress = json_loads("{\"best\":\"wrong\",\"goal_reached\":true}", 0, NULL);
    assert_false(done_is(&plain, NULL, NULL) || done_in_part(&plain, NULL, NULL));
    assert_false(done_is(&plain, progress, none) || done_in_part(&plain, progress, none));
    json_object_set_new(progress, "best", json_string("pass"));
    assert_true(done_is(&plain, progress, none));
    assert_false(done_in_part(&plain, progress, none));
    assert_true(done_in_part(&asks, progress, answers));
    note(progress, "{\"verdict\":\"pass\"," FOUND("2") "," TIMED("same") "}");
    note(progress, "{\"verdict\":\"pass\"," FOUND("0") "," TIMED("faster") "}");
    assert_true(done_is(&asks, progress, answers));
    assert_false(done_is(&asks, progress, none));
    json_decref(progress);
    json_decref(answers);
    json_decref(none);
}

static void check_said(const struct labfile *lab, const json_t *progress, const char *want)
{
    struct buf text = {0};
    done_say(lab, progress, NULL, &text);
    assert_string_equal(buf_str(&text), want);
    buf_free(&text);
}

static void what_is_open_is_said(void **state)
{
    (void)state;
    json_t *progress = json_loads("{\"goal_reached\":true}", 0, NULL);
    check_said(&plain, progress, "");
    check_said(&asks, NULL,
               "Still to do: measure the version without cp.async; measure the version with "
               "cp.async; answer question 10 of the quiz; answer question 11 of the quiz.");
    note(progress, "{\"verdict\":\"pass\",\"backend\":\"sim\"," FOUND("0") "}");
    struct buf text = {0};
    done_say(&asks, progress, NULL, &text);
    assert_non_null(strstr(buf_str(&text), "Measuring needs an NVIDIA GPU"));
    buf_free(&text);
    note(progress, "{\"verdict\":\"pass\",\"backend\":\"gpu\"," FOUND("0") "," TIMED("faster") "}");
    check_said(&asks, progress,
               "Still to do: measure the version with cp.async; answer question 10 of the quiz; "
               "answer question 11 of the quiz.");
    json_decref(progress);
}

static void check_goal(const json_t *progress, const struct labfile *lab, const char *want)
{
    struct buf text = {0};
    if (done_goal_is_open(progress))
        done_name_goal(lab, progress, &text);
    assert_string_equal(buf_str(&text), want);
    buf_free(&text);
}

static const char missing[] = "{\"verdict\":\"pass\",\"landmarks\":[{\"name\":\"a\",\"ok\":true},{"
                              "\"name\":\"b\",\"ok\":false}]}";

static void a_starter_that_passes_leaves_the_lab_open(void **state)
{
    (void)state;
    json_t *progress = json_loads("{\"best\":\"pass\"}", 0, NULL);
    struct labfile lab = {.goal = 0.95}, host = {.goal = 0.95, .kind = LAB_HOST};
    check_goal(progress, &lab, ""); /* from before this was noted */
    note(progress, "{\"verdict\":\"wrong\"}");
    check_goal(progress, &lab, "");
    note(progress, missing);
    assert_true(done_in_part(&plain, progress, NULL));
    check_goal(progress, &lab,
               "write what the lab is about: a landmark is missing in every kernel that passed, "
               "and the Check pane says which");
    check_goal(progress, &host,
               "write what the lab is about: the Check pane says what no run of yours shows yet");
    note(progress, "{\"verdict\":\"pass\",\"landmarks\":[{\"name\":\"b\",\"ok\":true}]}");
    assert_true(done_is(&plain, progress, NULL));
    note(progress, missing); /* once is enough */
    assert_true(done_is(&plain, progress, NULL));
    json_decref(progress);
}

static void where_there_is_a_gpu_the_goal_decides(void **state)
{
    (void)state;
    json_t *progress = json_loads("{\"best\":\"pass\"}", 0, NULL);
    struct labfile lab = {.goal = 0.95};
    note(progress, "{\"verdict\":\"pass\"," TIMED("too-noisy") "}");
    assert_true(done_is(&plain, progress, NULL));
    note(progress, "{\"verdict\":\"pass\"," TIMED("slower") "}");
    assert_true(done_in_part(&plain, progress, NULL));
    check_goal(progress, &lab, "reach the goal, 95 % of the solution's speed");
    json_object_set_new(progress, "goal_reached", json_true());
    note(progress, missing);
    assert_true(done_is(&plain, progress, NULL));
    json_decref(progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_versions_have_to_be_measured),
        cmocka_unit_test(questions_have_to_be_answered),
        cmocka_unit_test(done_needs_a_pass_and_all_of_it),
        cmocka_unit_test(what_is_open_is_said),
        cmocka_unit_test(a_starter_that_passes_leaves_the_lab_open),
        cmocka_unit_test(where_there_is_a_gpu_the_goal_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
