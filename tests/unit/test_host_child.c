/* stride-host as a child: it starts, takes commands, and however it ends, a verdict or an error
 * with a sentence comes out of it. tests/host has the programs that make it end badly. */
#include "harness/host_child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PLENTY_MS 60000.0

static struct host_child_options options(void)
{
    return (struct host_child_options){
        .root = ".", .lab = "streams", .entry = "streamsRun", .seed = 1};
}

static struct host_child start(void)
{
    struct host_child child;
    struct host_child_options simulated = options();
    struct err err = {0};
    if (!host_child_start(&child, &simulated, &err) || !host_child_wait(&child, PLENTY_MS, &err))
        fail_msg("%s", err.text);
    return child;
}

static void commands_have_an_end(void **state)
{
    (void)state;
    struct host_child child = start();
    struct host_outcome outcome;
    struct err err = {0};
    assert_true(host_child_wait(&child, PLENTY_MS, &err)); /* once more is no harm */
    for (int i = 0; i < 3; i++) {
        host_child_do(&child, json_pack("{s:s}", "do", "dance"), PLENTY_MS, PLENTY_MS, NULL, NULL,
                      &outcome);
        assert_int_equal(outcome.verdict, VERDICT_CANNOT_RUN);
        assert_false(outcome.died);
        assert_non_null(strstr(outcome.summary, "unknown command"));
    }
    host_child_do(&child, json_pack("{s:s, s:[i]}", "do", "check", "sizes", 1), PLENTY_MS,
                  PLENTY_MS, NULL, NULL, &outcome);
    assert_non_null(strstr(outcome.summary, "nothing is loaded"));
    host_child_free(&child);
}

static void what_cannot_start_says_why(void **state)
{
    (void)state;
    struct host_child child;
    struct err err = {0};
    struct host_child_options wrong = options();
    wrong.lab = "no-such-lab";
    assert_true(host_child_start(&child, &wrong, &err));
    assert_false(host_child_wait(&child, PLENTY_MS, &err));
    assert_non_null(strstr(err.text, "no such host lab"));
    host_child_free(&child);
    wrong = options();
    wrong.cudart = "/nonexistent/libcudart.so.13";
    assert_true(host_child_start(&child, &wrong, &err));
    assert_false(host_child_wait(&child, PLENTY_MS, &err));
    assert_non_null(strstr(err.text, "CUDA runtime cannot be opened"));
    assert_int_equal(child.pid, 0);
    host_child_free(&child);
}

static void a_child_that_is_gone_is_noticed(void **state)
{
    (void)state;
    struct host_child child = start();
    struct host_outcome outcome;
    kill(child.pid, SIGKILL);
    host_child_do(&child, json_pack("{s:s}", "do", "dance"), PLENTY_MS, PLENTY_MS, NULL, NULL,
                  &outcome);
    assert_true(outcome.died);
    assert_int_equal(outcome.verdict, VERDICT_CANNOT_RUN); /* nothing of the student's ran in it */
    host_child_do(&child, json_pack("{s:s}", "do", "dance"), PLENTY_MS, PLENTY_MS, NULL, NULL,
                  &outcome);
    assert_non_null(strstr(outcome.summary, "gone"));
    host_child_free(&child);
}

static void a_child_that_says_nothing_is_ended(void **state)
{
    (void)state;
    struct host_child child = start();
    struct host_outcome outcome;
    pid_t pid = child.pid;
    kill(pid, SIGSTOP);
    host_child_do(&child, json_pack("{s:s}", "do", "dance"), 200, 200, NULL, NULL, &outcome);
    assert_true(outcome.died);
    assert_int_equal(child.pid, 0);
    assert_int_equal(kill(pid, 0), -1);
    host_child_free(&child);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as stride-harness does */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_have_an_end),
        cmocka_unit_test(what_cannot_start_says_why),
        cmocka_unit_test(a_child_that_is_gone_is_noticed),
        cmocka_unit_test(a_child_that_says_nothing_is_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
