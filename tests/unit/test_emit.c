/* The wire format of docs/record.md, and the job that starts it. */
#include "harness/base/buf.h"
#include "harness/emit.h"
#include "harness/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads what was emitted since; the pipe holds more than a test writes. */
static json_t *next_event(int fd)
{
    struct buf line = {0};
    for (char c; read(fd, &c, 1) == 1 && c != '\n';)
        buf_add_char(&line, c);
    json_t *event = json_loads(buf_str(&line), 0, NULL);
    buf_free(&line);
    assert_non_null(event);
    return event;
}

static void assert_event(int fd, const char *expected)
{
    json_t *event = next_event(fd), *want = json_loads(expected, 0, NULL);
    assert_non_null(want);
    if (!json_equal(event, want)) {
        char *text = json_dumps(event, JSON_SORT_KEYS);
        fail_msg("got %s\nwant %s", text, expected);
    }
    json_decref(event);
    json_decref(want);
}

static void events_are_as_documented(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct emit emit = {.fd = ends[1]};
    emit_ready(&emit, 412.04);
    assert_event(ends[0], "{\"event\":\"ready\",\"ms\":412.0}");
    emit.nonce = mem_strdup("n\"1");
    emit_begin(&emit, "compile");
    assert_event(ends[0], "{\"event\":\"begin\",\"nonce\":\"n\\\"1\",\"stage\":\"compile\"}");
    emit_set(&emit, json_pack("{s:{s:b}}", "build", "ok", 1));
    assert_event(ends[0],
                 "{\"event\":\"data\",\"nonce\":\"n\\\"1\",\"set\":{\"build\":{\"ok\":true}}}");
    emit_add(&emit, "cases", json_pack("{s:i}", "n", 4096));
    assert_event(ends[0],
                 "{\"event\":\"data\",\"nonce\":\"n\\\"1\",\"add\":{\"cases\":{\"n\":4096}}}");
    emit_done(&emit, "compile", 31.25);
    assert_event(ends[0],
                 "{\"event\":\"done\",\"nonce\":\"n\\\"1\",\"stage\":\"compile\",\"ms\":31.25}");
    emit_skip(&emit, "time", "no \033[31mGPU\n\xff");
    assert_event(ends[0], "{\"event\":\"skip\",\"nonce\":\"n\\\"1\",\"stage\":\"time\",\"why\":"
                          "\"no GPU\\n\xef\xbf\xbd\"}");
    emit_note(&emit, "%d of %d", 3, 6);
    assert_event(ends[0], "{\"event\":\"note\",\"nonce\":\"n\\\"1\",\"text\":\"3 of 6\"}");
    emit_end(&emit, VERDICT_NO_BUILD, "line 3");
    assert_event(ends[0], "{\"event\":\"end\",\"nonce\":\"n\\\"1\",\"verdict\":\"no-build\","
                          "\"summary\":\"line 3\"}");
    emit_close(&emit);
    close(ends[0]);
    close(ends[1]);
}

static void without_descriptor_3_it_says_so(void **state)
{
    (void)state;
    struct emit emit;
    struct err err = {0};
    int saved = fcntl(3, F_DUPFD, 100);
    close(3);
    assert_false(emit_open(&emit, &err));
    assert_non_null(strstr(err.text, "descriptor 3"));
    if (saved >= 0) {
        dup2(saved, 3);
        close(saved);
    }
}

static bool parse(struct work *out, const char *line, struct err *err)
{
    return work_parse(out, line, strlen(line), "/here", err);
}

static void a_job_is_read(void **state)
{
    (void)state;
    struct work work;
    struct err err = {0};
    assert_true(
        parse(&work,
              "{\"nonce\":\"a\",\"source\":\"k é.cu\",\"out\":\"/o\",\"backend\":\"sim\","
              "\"stages\":[\"check\",\"disasm\"],\"seed\":7,\"beside\":\"b\",\"later\":1}\n",
              &err));
    assert_string_equal(work.source, "/here/k é.cu");
    assert_string_equal(work.folder, "/here/b");
    assert_string_equal(work.out, "/o");
    assert_string_equal(work.name, "kernel.cu");
    assert_int_equal(work.backend, BACKEND_SIM);
    assert_true(work.stages[STAGE_COMPILE] && work.stages[STAGE_CHECK] &&
                work.stages[STAGE_DISASM]);
    assert_false(work.stages[STAGE_TIME] || work.stages[STAGE_HAZARDS]);
    assert_int_equal(work.seed, 7);
    work_free(&work);
}

static void a_wrong_job_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *word;
    } cases[] = {
        {"", "JSON"},
        {"[]", "JSON"},
        {"{\"source\":\"a\",\"out\":\"b\",\"stages\":[]}", "nonce"},
        {"{\"nonce\":\"a\",\"out\":\"b\",\"stages\":[]}", "source"},
        {"{\"nonce\":\"a\",\"source\":\"a\",\"stages\":[]}", "out"},
        {"{\"nonce\":\"a\",\"source\":\"a\",\"out\":\"b\"}", "stages"},
        {"{\"nonce\":\"a\",\"source\":\"a\",\"out\":\"b\",\"stages\":[\"fly\"]}", "fly"},
        {"{\"nonce\":\"a\",\"source\":\"a\",\"out\":\"b\",\"stages\":[7]}", "stage"},
        {"{\"nonce\":\"a\",\"source\":\"a\",\"out\":\"b\",\"stages\":[],\"backend\":\"cpu\"}",
         "cpu"},
        {"{\"nonce\":\"a\",\"source\":\"a\",\"out\":\"b\",\"stages\":[],\"seed\":1.5}", "seed"},
        {"{\"nonce\":\"a\",\"source\":\"a\",\"out\":\"b\",\"stages\":[],\"name\":\"../k\"}",
         "name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct work work;
        struct err err = {0};
        assert_false(parse(&work, cases[i].line, &err));
        if (!strstr(err.text, cases[i].word))
            fail_msg("%s: %s", cases[i].line, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_as_documented),
        cmocka_unit_test(without_descriptor_3_it_says_so),
        cmocka_unit_test(a_job_is_read),
        cmocka_unit_test(a_wrong_job_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
