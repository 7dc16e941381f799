/* Tools as children: their output whole or cut, their end by themselves or at the deadline, and
 * nothing of the outside steering them. */
#include "harness/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHELL(command)                                                                             \
    (char *[])                                                                                     \
    {                                                                                              \
        (char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){command}, NULL                               \
    }

static struct process_result run(char *const argv[], int input, const char *extra,
                                 double deadline_ms)
{
    struct process process;
    struct process_result result;
    struct err err = {0};
    if (!process_start(&process, argv, "/", input, extra, &err))
        fail_msg("%s", err.text);
    if (!process_finish(&process, &result, deadline_ms, &err))
        fail_msg("%s", err.text);
    return result;
}

static void output_and_status_come_back(void **state)
{
    (void)state;
    struct err err = {0};
    int input = process_make_input("from here", 9, &err);
    assert_true(input >= 0);
    struct process_result result =
        run(SHELL("cat /proc/self/fd/4; echo \" $MINE $CPATH.\"; pwd; echo bad >&2; exit 3"), input,
            "MINE=yes", 20000);
    assert_int_equal(result.status, 3);
    assert_string_equal(buf_str(&result.out), "from here yes .\n/\n");
    assert_string_equal(buf_str(&result.text), "bad\n");
    assert_false(result.timed_out);
    process_result_free(&result);
    close(input);
}

static void a_tool_has_so_much_memory(void **state)
{
    (void)state;
    struct process_result result = run(
        SHELL("until [ \"$(ulimit -v)\" = 4194304 ]; do :; done; echo limited"), -1, NULL, 20000);
    assert_string_equal(buf_str(&result.out), "limited\n");
    process_result_free(&result);
}

static void a_tool_that_hangs_is_killed(void **state)
{
    (void)state;
    struct process_result result =
        run(SHELL("trap '' TERM; echo begun; while :; do sleep 1; done"), -1, NULL, 300);
    assert_true(result.timed_out);
    assert_int_equal(result.status, 128 + SIGKILL);
    assert_string_equal(buf_str(&result.out), "begun\n");
    process_result_free(&result);
}

static void a_grandchild_that_stays_holds_nobody_up(void **state)
{
    (void)state;
    struct process_result result = run(SHELL("sleep 20 & echo $!"), -1, NULL, 10000);
    assert_false(result.timed_out);
    pid_t left = (pid_t)atoi(buf_str(&result.out));
    assert_int_equal(kill(left, SIGKILL), 0);
    process_result_free(&result);
}

static void a_flood_is_cut(void **state)
{
    (void)state;
    struct process_result result = run(SHELL("exec cat /dev/zero"), -1, NULL, 60000);
    assert_false(result.timed_out);
    assert_int_not_equal(result.status, 0);
    assert_int_equal(result.out.len, PROCESS_OUTPUT_MOST);
    assert_true(result.out.cut);
    process_result_free(&result);
}

/* A compiler that is killed leaves its temporary files where they are removed with the rest. */
static void temporary_files_stay_in_its_folder(void **state)
{
    (void)state;
    struct process process;
    struct process_result result;
    struct err err = {0};
    setenv("TMPDIR", "/elsewhere", 1);
    char *const *own = SHELL("env | grep TMPDIR");
    if (!process_start(&process, own, "/usr", -1, NULL, &err) ||
        !process_finish(&process, &result, 5000, &err))
        fail_msg("%s", err.text);
    assert_string_equal(buf_str(&result.out), "TMPDIR=.\n");
    process_result_free(&result);
    result = run(own, -1, NULL, 5000);
    assert_string_equal(buf_str(&result.out), "TMPDIR=/elsewhere\n");
    process_result_free(&result);
    unsetenv("TMPDIR");
}

static void a_missing_tool_is_an_error(void **state)
{
    (void)state;
    struct process process;
    struct err err = {0};
    char *argv[] = {(char[]){"/nonexistent/nvdisasm"}, NULL};
    assert_false(process_start(&process, argv, NULL, -1, NULL, &err));
    assert_non_null(strstr(err.text, "/nonexistent/nvdisasm"));
    process_abandon(&process); /* harmless */
}

int main(void)
{
    setenv("CPATH", "/evil", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_status_come_back),
        cmocka_unit_test(a_tool_has_so_much_memory),
        cmocka_unit_test(a_tool_that_hangs_is_killed),
        cmocka_unit_test(a_grandchild_that_stays_holds_nobody_up),
        cmocka_unit_test(a_flood_is_cut),
        cmocka_unit_test(temporary_files_stay_in_its_folder),
        cmocka_unit_test(a_missing_tool_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
