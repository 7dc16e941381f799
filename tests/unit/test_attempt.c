/* The record that is merged from what the harness says, and from how its life ends. */
#include "tui/attempt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S INT64_C(1000000000)

static struct attempt fresh(void)
{
    struct attempt attempt;
    attempt_init(&attempt, "cp-async", "n1", true, 0);
    return attempt;
}

static bool say(struct attempt *attempt, int64_t now_ns, const char *line)
{
    char text[4096];
    size_t at = 0;
    for (; *line; line++) /* single quotes read better here */
        text[at++] = *line == '\'' ? '"' : *line;
    return attempt_event(attempt, text, at, now_ns);
}

static const char *text_of(const struct attempt *attempt, const char *key)
{
    const char *text = json_string_value(json_object_get(attempt->record, key));
    return text ? text : "";
}

static void a_stage_within_another_has_no_time_of_its_own(void **state)
{
    (void)state;
    struct attempt attempt = fresh();
    say(&attempt, 1, "{'event':'begin','nonce':'n1','stage':'check'}");
    say(&attempt, 2, "{'event':'done','nonce':'n1','stage':'check','ms':2}");
    say(&attempt, 3, "{'event':'begin','nonce':'n1','stage':'hazards'}");
    assert_true(
        say(&attempt, 4, "{'event':'done','nonce':'n1','stage':'hazards','within':'check'}"));
    say(&attempt, 5, "{'event':'begin','nonce':'n1','stage':'timeline'}");
    assert_true(
        say(&attempt, 6, "{'event':'done','nonce':'n1','stage':'timeline','within':'nothing'}"));
    const json_t *stages = json_object_get(attempt.record, "stages");
    const json_t *hazards = json_array_get(stages, 1);
    assert_string_equal(json_string_value(json_object_get(hazards, "within")), "check");
    assert_null(json_object_get(hazards, "ms"));
    assert_string_equal(attempt.stages[1].within, "check");
    /* A stage that never was cannot have done it: the reader's own clock counts. */
    assert_null(json_object_get(json_array_get(stages, 2), "within"));
    assert_true(json_number_value(json_object_get(json_array_get(stages, 2), "ms")) > 0);
    attempt_free(&attempt);
}

static void a_whole_attempt_becomes_a_record(void **state)
{
    (void)state;
    struct attempt attempt = fresh();
    assert_true(say(&attempt, 1, "{'event':'begin','nonce':'n1','stage':'compile'}"));
    assert_string_equal(attempt_running(&attempt)->name, "compile");
    assert_true(
        say(&attempt, 2, "{'event':'data','nonce':'n1','set':{'build':{'ok':true,'ms':3.5}}}"));
    assert_true(say(&attempt, 3,
                    "{'event':'data','nonce':'n1','set':{'build':{'x':[1]},'new-key':{'a':1}}}"));
    assert_true(say(&attempt, 4, "{'event':'done','nonce':'n1','stage':'compile','ms':31.25}"));
    assert_true(say(&attempt, 5, "{'event':'begin','nonce':'n1','stage':'check'}"));
    assert_true(say(&attempt, 6,
                    "{'event':'data','nonce':'n1','add':{'cases':{'n':4096,'verdict':'pass'}}}"));
    assert_true(say(&attempt, 7, "{'event':'note','nonce':'n1','text':'1 of 2 sizes'}"));
    assert_string_equal(attempt.note, "1 of 2 sizes");
    assert_true(say(&attempt, 8,
                    "{'event':'data','nonce':'n1','add':{'cases':{'n':8192,'verdict':'pass'}}}"));
    assert_true(say(&attempt, 9, "{'event':'done','nonce':'n1','stage':'check','ms':2}"));
    assert_true(say(&attempt, 9, "{'event':'skip','nonce':'n1','stage':'time','why':'no GPU'}"));
    assert_true(
        say(&attempt, 9, "{'event':'end','nonce':'n1','verdict':'pass','summary':'passes both'}"));
    assert_true(attempt.ended);
    assert_false(
        say(&attempt, 9, "{'event':'end','nonce':'n1','verdict':'wrong','summary':'late'}"));
    attempt_child_over(&attempt, DEATH_SIGNAL, SIGSEGV);
    assert_int_equal(attempt.verdict, VERDICT_PASS);
    attempt_set_number(&attempt, 4);

    struct buf text = {0};
    attempt_dump(attempt.record, &text);
    assert_string_equal(
        buf_str(&text),
        "{\n  \"attempt\": 4,\n  \"build\": {\n    \"ms\": 3.5,\n    \"ok\": true,\n"
        "    \"x\": [\n      1\n    ]\n  },\n  \"cases\": [\n    {\n      \"n\": 4096,\n"
        "      \"verdict\": \"pass\"\n    },\n    {\n      \"n\": 8192,\n"
        "      \"verdict\": \"pass\"\n    }\n  ],\n  \"lab\": \"cp-async\",\n"
        "  \"new-key\": {\n    \"a\": 1\n  },\n  \"schema\": 1,\n  \"skipped\": [\n    {\n"
        "      \"stage\": \"time\",\n      \"why\": \"no GPU\"\n    }\n  ],\n  \"stages\": [\n"
        "    {\n      \"ms\": 31.25,\n      \"name\": \"compile\"\n    },\n    {\n"
        "      \"ms\": 2.0,\n      \"name\": \"check\"\n    }\n  ],\n"
        "  \"summary\": \"passes both\",\n  \"verdict\": \"pass\"\n}\n");
    json_t *again = attempt_load_record(text.data, text.len);
    assert_true(json_equal(again, attempt.record));
    json_decref(again);
    buf_free(&text);
    attempt_free(&attempt);
}

static void only_the_nonce_opens_the_record(void **state)
{
    (void)state;
    struct attempt attempt = fresh();
    assert_false(say(&attempt, 1, "{'event':'end','verdict':'pass','summary':'forged'}"));
    assert_false(
        say(&attempt, 1, "{'event':'end','nonce':'n2','verdict':'pass','summary':'forged'}"));
    assert_false(say(&attempt, 1, "{'event':'end','nonce':['n1'],'verdict':'pass'}"));
    assert_false(attempt.ended);
    assert_int_equal(attempt.refused, 3);
    attempt_free(&attempt);
    char a[ATTEMPT_NONCE], b[ATTEMPT_NONCE];
    attempt_make_nonce(a);
    attempt_make_nonce(b);
    assert_int_equal(strlen(a), 32);
    assert_string_not_equal(a, b);
}

static void nothing_malformed_changes_the_record(void **state)
{
    (void)state;
    struct attempt attempt = fresh();
    json_t *before = json_deep_copy(attempt.record);
    static const char *const lines[] = {
        "",
        "{",
        "[]",
        "7",
        "null",
        "\xff\xfe",
        "{'event':7}",
        "{'event':'data','nonce':'n1'}",
        "{'event':'data','nonce':'n1','set':[1]}",
        "{'event':'data','nonce':'n1','add':3}",
        "{'event':'data','nonce':'n1','set':{'schema':9}}",
        "{'event':'data','nonce':'n1','set':{'lab':'x'}}",
        "{'event':'data','nonce':'n1','set':{'verdict':'pass'}}",
        "{'event':'data','nonce':'n1','set':{'cases':7}}",
        "{'event':'data','nonce':'n1','set':{'build':'y'}}",
        "{'event':'data','nonce':'n1','add':{'build':{}}}",
        "{'event':'data','nonce':'n1','add':{'stages':{}}}",
        "{'event':'begin','nonce':'n1','stage':7}",
        "{'event':'begin','nonce':'n1','stage':'../x'}",
        "{'event':'begin','nonce':'n1','stage':'averyveryverylongname'}",
        "{'event':'begin','nonce':'n1'}",
        "{'event':'done','nonce':'n1','stage':'check'}",
        "{'event':'note','nonce':'n1','text':7}",
        "{'event':'skip','nonce':'n1','stage':'time'}",
        "{'event':'end','nonce':'n1','verdict':'splendid'}",
        "{'event':'end','nonce':'n1','verdict':7}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (say(&attempt, 1, lines[i]))
            fail_msg("taken: %s", lines[i]);
    assert_true(json_equal(before, attempt.record));
    assert_false(attempt.ended || attempt.began);
    json_decref(before);
    attempt_free(&attempt);
}

static void depth_and_size_are_capped(void **state)
{
    (void)state;
    struct attempt attempt = fresh();
    struct buf line = {0};
    buf_add_str(&line, "{\"event\":\"data\",\"nonce\":\"n1\",\"set\":{\"deep\":");
    for (int i = 0; i < 100; i++)
        buf_add_str(&line, "[");
    for (int i = 0; i < 100; i++)
        buf_add_str(&line, "]");
    buf_add_str(&line, "}}");
    assert_false(attempt_event(&attempt, line.data, line.len, 1));
    buf_clear(&line);
    for (int i = 0; i < 200000; i++)
        buf_add_str(&line, "[");
    assert_false(attempt_event(&attempt, line.data, line.len, 1));
    assert_null(attempt_load_record(line.data, line.len));
    buf_clear(&line);
    buf_add_str(&line, "{\"event\":\"data\",\"nonce\":\"n1\",\"add\":{\"cases\":{\"text\":\"");
    for (int i = 0; i < 1000; i++)
        buf_add_str(&line, "0123456789");
    buf_add_str(&line, "\"}}}");
    for (int i = 0; i < 5000; i++)
        attempt_event(&attempt, line.data, line.len, 1);
    assert_true(attempt.cut);
    assert_true(json_array_size(json_object_get(attempt.record, "cases")) < 1000);
    assert_true(say(&attempt, 1, "{'event':'end','nonce':'n1','verdict':'pass','summary':'x'}"));
    assert_true(json_is_true(json_object_get(attempt.record, "cut")));
    buf_free(&line);
    attempt_free(&attempt);
}

static void stages_have_deadlines(void **state)
{
    (void)state;
    struct attempt attempt;
    attempt_init(&attempt, "x", "n1", false, 5 * S);
    assert_int_equal(attempt_deadline_ns(&attempt), 65 * S); /* to be ready */
    assert_true(say(&attempt, 7 * S, "{'event':'ready','ms':1}"));
    assert_int_equal(attempt_deadline_ns(&attempt), 27 * S); /* to begin something */
    say(&attempt, 10 * S, "{'event':'begin','nonce':'n1','stage':'compile'}");
    assert_int_equal(attempt_deadline_ns(&attempt), 70 * S);
    say(&attempt, 60 * S, "{'event':'note','nonce':'n1','text':'still there'}");
    assert_int_equal(attempt_deadline_ns(&attempt), 70 * S); /* talking is no progress */
    say(&attempt, 61 * S, "{'event':'done','nonce':'n1','stage':'compile','ms':1}");
    assert_int_equal(attempt_deadline_ns(&attempt), 81 * S);
    say(&attempt, 62 * S, "{'event':'begin','nonce':'n1','stage':'check'}");
    assert_int_equal(attempt_deadline_ns(&attempt), 82 * S);
    attempt_child_over(&attempt, DEATH_DEADLINE, 0);
    assert_int_equal(attempt_deadline_ns(&attempt), INT64_MAX);
    assert_int_equal(attempt.verdict, VERDICT_TIMED_OUT);
    assert_string_equal(attempt_summary(&attempt),
                        "stage check did not end within 20 s and was stopped");
    assert_int_equal(attempt.stages[1].state, STAGE_BROKEN);
    attempt_free(&attempt);
}

static void a_death_is_told(void **state)
{
    (void)state;
    static const struct {
        enum attempt_death death;
        int code;
        enum verdict verdict;
        const char *words;
    } deaths[] = {
        {DEATH_EXIT, 0, VERDICT_STOPPED_EARLY, "exit status 0"},
        {DEATH_SIGNAL, SIGSEGV, VERDICT_CRASHED, "Segmentation fault (signal 11)"},
        {DEATH_SIGNAL, 0, VERDICT_CRASHED, "crashed"},
        {DEATH_STOPPED, 0, VERDICT_STOPPED_EARLY, "you stopped it"},
        {DEATH_FLOOD, 0, VERDICT_STOPPED_EARLY, "without end"},
    };
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
        struct attempt attempt = fresh();
        say(&attempt, 1, "{'event':'begin','nonce':'n1','stage':'check'}");
        say(&attempt, 1, "{'event':'data','nonce':'n1','add':{'cases':{'n':1,'verdict':'pass'}}}");
        attempt_child_over(&attempt, deaths[i].death, deaths[i].code);
        assert_int_equal(attempt.verdict, deaths[i].verdict);
        assert_string_equal(text_of(&attempt, "verdict"), verdict_name(deaths[i].verdict));
        assert_non_null(strstr(attempt_summary(&attempt), deaths[i].words));
        assert_non_null(strstr(attempt_summary(&attempt), "check"));
        attempt_free(&attempt);
    }
}

static void the_details_outweigh_a_friendly_end(void **state)
{
    (void)state;
    static const struct {
        const char *data, *end;
        enum verdict verdict;
    } rows[] = {
        {"{'event':'data','nonce':'n1','add':{'cases':{'verdict':'wrong'}}}", "pass",
         VERDICT_WRONG},
        {"{'event':'data','nonce':'n1','add':{'hazards':{'kind':'race'}}}", "pass", VERDICT_HAZARD},
        {"{'event':'data','nonce':'n1','set':{'build':{'ok':false}}}", "pass", VERDICT_NO_BUILD},
        {"{'event':'data','nonce':'n1','add':{'cases':{'verdict':'cannot-run'}}}", "pass",
         VERDICT_PASS},
        {"{'event':'data','nonce':'n1','add':{'cases':{'verdict':'wrong'}}}", "crashed",
         VERDICT_CRASHED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct attempt attempt = fresh();
        char end[128];
        assert_true(say(&attempt, 1, rows[i].data));
        snprintf(end, sizeof end, "{'event':'end','nonce':'n1','verdict':'%s','summary':'s'}",
                 rows[i].end);
        assert_true(say(&attempt, 1, end));
        assert_int_equal(attempt.verdict, rows[i].verdict);
        attempt_free(&attempt);
    }
}

static void a_commit_says_what_happened(void **state)
{
    (void)state;
    struct attempt attempt = fresh();
    say(&attempt, 1,
        "{'event':'data','nonce':'n1','set':{'backend':'gpu','device':{'name':'H\\u001b[31m\\n200',"
        "'compute_capability':'9.0','driver':'13.0'},'timing':{'verdict':'faster',"
        "'speedup':{'median':1.4142},'yours_ms':{'median':0.142,'low':0.14,'high':0.15}}}}");
    say(&attempt, 1, "{'event':'skip','nonce':'n1','stage':'hazards','why':'later\\nAttempt: 9'}");
    say(&attempt, 1, "{'event':'end','nonce':'n1','verdict':'pass','summary':'passes\\n\\nall'}");
    attempt_set_number(&attempt, 12);
    struct buf text = {0};
    attempt_commit_subject(attempt.record, &text);
    assert_string_equal(buf_str(&text), "cp-async #12: pass, 1.41x");
    buf_clear(&text);
    attempt_commit_body(attempt.record, &text);
    assert_string_equal(buf_str(&text),
                        "passes  all\n\nBackend: gpu\nDevice: H 200, compute capability 9.0, "
                        "driver 13.0\nTiming: yours 0.142 ms [0.14, 0.15]; faster\n"
                        "Skipped: hazards (later Attempt: 9)\n");
    json_t *timing = json_object_get(attempt.record, "timing");
    json_object_set_new(timing, "verdict", json_string("too-noisy"));
    char speedup[16];
    attempt_speedup(attempt.record, speedup);
    assert_string_equal(speedup, "");
    buf_free(&text);
    attempt_free(&attempt);
}

static void what_the_kernel_printed_is_cleaned_and_capped(void **state)
{
    (void)state;
    struct attempt attempt = fresh();
    attempt_set_output(&attempt, "a\x1b[31mb\x07\n", 9, false);
    assert_string_equal(text_of(&attempt, "output"), "ab\n");
    assert_null(json_object_get(attempt.record, "output_cut"));
    struct buf flood = {0};
    for (int i = 0; i < 50000; i++)
        buf_add_str(&flood, "\xc3\xa9\xc3\xa9");
    attempt_set_output(&attempt, flood.data, flood.len, false);
    assert_int_equal(strlen(text_of(&attempt, "output")), 65536);
    assert_true(json_is_true(json_object_get(attempt.record, "output_cut")));
    buf_free(&flood);
    attempt_free(&attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_attempt_becomes_a_record),
        cmocka_unit_test(a_stage_within_another_has_no_time_of_its_own),
        cmocka_unit_test(only_the_nonce_opens_the_record),
        cmocka_unit_test(nothing_malformed_changes_the_record),
        cmocka_unit_test(depth_and_size_are_capped),
        cmocka_unit_test(stages_have_deadlines),
        cmocka_unit_test(a_death_is_told),
        cmocka_unit_test(the_details_outweigh_a_friendly_end),
        cmocka_unit_test(a_commit_says_what_happened),
        cmocka_unit_test(what_the_kernel_printed_is_cleaned_and_capped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
