/* A whole attempt against tests/fake-harness, in each of its moods. Run from the repository root.
 */
#include "tui/runner.h"

#include "harness/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/stride-runner-XXXXXX";
static char *kernel_path, *pid_path;

static int set_up(void **state)
{
    (void)state;
    char here[4096];
    struct err err;
    if (!mkdtemp(folder) || !getcwd(here, sizeof here))
        return -1;
    char *harness = path_join(here, "tests/fake-harness");
    setenv("STRIDE_HARNESS", harness, 1);
    setenv("TMPDIR", folder, 1);
    free(harness);
    kernel_path = path_join(folder, "student.cu");
    pid_path = path_join(folder, "pid");
    setenv("FAKE_HARNESS_PID", pid_path, 1);
    return file_write(kernel_path, "// kernel\n", 10, false, &err) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(kernel_path);
    unlink(pid_path);
    free(kernel_path);
    free(pid_path);
    return rmdir(folder); /* fails when a runner left something behind */
}

static void turn(struct runner *runner)
{
    struct pollfd fds[JOB_FDS];
    int wait = runner_timeout_ms(runner, job_clock_ns());
    poll(fds, (nfds_t)runner_poll_fds(runner, fds), wait < 0 ? 1000 : wait);
    runner_pump(runner, job_clock_ns());
}

static void drive(struct runner *runner)
{
    int64_t begin = job_clock_ns();
    while (runner->state != RUNNER_OVER) {
        turn(runner);
        assert_true(job_clock_ns() - begin < 100000000000);
    }
}

static void begin(struct runner *runner, const char *mood)
{
    struct err err = {0};
    setenv("FAKE_HARNESS", mood, 1);
    unlink(pid_path);
    if (!runner_warm(runner, "/", "cp-async", &err) ||
        !runner_begin(runner, &(struct runner_job){.source = kernel_path}, &err))
        fail_msg("%s", err.text);
}

static void each_mood_gets_its_verdict(void **state)
{
    (void)state;
    static const struct {
        const char *mood;
        enum verdict verdict;
        const char *summary;
    } rows[] = {
        {"ok", VERDICT_PASS, "passes all 3 sizes"},
        {"wrong", VERDICT_WRONG, "2 of 3"},
        {"hazard", VERDICT_HAZARD, "race"},
        {"fault", VERDICT_FAULT, "past the end"},
        {"no-build", VERDICT_NO_BUILD, "1 error"},
        {"cannot-run", VERDICT_CANNOT_RUN, "NVRTC"},
        {"crash", VERDICT_CRASHED, "check: Segmentation fault"},
        {"exit-early", VERDICT_STOPPED_EARLY, "check (exit status 0)"},
        {"no-end", VERDICT_STOPPED_EARLY, "before it was done"},
        {"forged", VERDICT_WRONG, "2 of 3"},
        {"garbage", VERDICT_PASS, "passes all 3 sizes"},
        {"noisy", VERDICT_PASS, "passes all 3 sizes"},
        {"flood-records", VERDICT_STOPPED_EARLY, "without end"},
        {"hang-after-end", VERDICT_PASS, "passes all 3 sizes"},
        {"fork", VERDICT_PASS, "passes all 3 sizes"},
        {"setsid", VERDICT_PASS, "passes all 3 sizes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct runner runner;
        begin(&runner, rows[i].mood);
        drive(&runner);
        if (runner.attempt.verdict != rows[i].verdict ||
            !strstr(attempt_summary(&runner.attempt), rows[i].summary))
            fail_msg("%s: %s: %s", rows[i].mood, verdict_name(runner.attempt.verdict),
                     attempt_summary(&runner.attempt));
        assert_string_equal(runner.trouble, "");
        if (strcmp(rows[i].mood, "ok") == 0) {
            struct buf listing = {0};
            assert_true(runner_take_listing(&runner, "kernel.ptx", &listing));
            assert_true(runner_take_listing(&runner, "kernel.sass", &listing));
            assert_non_null(strstr(buf_str(&listing), "LDGSTS"));
            assert_string_equal(buf_str(&runner.kernel), "// kernel\n");
            buf_free(&listing);
        }
        if (strcmp(rows[i].mood, "noisy") == 0)
            assert_non_null(strstr(
                json_string_value(json_object_get(runner.attempt.record, "output")), "line 199"));
        runner_free(&runner);
    }
}

/* An orphan that init has not reaped yet is not alive. */
static bool is_alive(pid_t pid)
{
    char path[64], mark = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    bool alive = file && fscanf(file, "%*d (%*[^)]) %c", &mark) == 1 && mark != 'Z';
    if (file)
        fclose(file);
    return alive;
}

static void nothing_is_left_running(void **state)
{
    (void)state;
    static const char *const moods[] = {"fork", "setsid", "fork-hang"};
    for (size_t i = 0; i < 3; i++) {
        struct runner runner;
        begin(&runner, moods[i]);
        if (strcmp(moods[i], "fork-hang") == 0) {
            while (!file_exists(pid_path) || runner.attempt.stage_count == 0)
                turn(&runner);
            runner_stop(&runner, job_clock_ns());
        }
        drive(&runner);
        struct buf text = {0};
        assert_true(file_read(&text, pid_path, 100, NULL));
        pid_t pid = (pid_t)atol(buf_str(&text));
        assert_true(pid > 1);
        for (int n = 0; n < 1000 && is_alive(pid); n++)
            usleep(10000);
        assert_false(is_alive(pid));
        buf_free(&text);
        runner_free(&runner);
    }
}

static void the_student_can_stop_anything(void **state)
{
    (void)state;
    static const char *const moods[] = {"hang", "stop", "flood"};
    for (size_t i = 0; i < 3; i++) {
        struct runner runner;
        begin(&runner, moods[i]);
        while (runner.attempt.stage_count == 0)
            turn(&runner);
        runner_stop(&runner, job_clock_ns());
        drive(&runner);
        assert_int_equal(runner.attempt.verdict, VERDICT_STOPPED_EARLY);
        assert_string_equal(attempt_summary(&runner.attempt), "you stopped it in stage compile");
        runner_free(&runner);
    }
}

static void a_deadline_is_kept(void **state)
{
    (void)state;
    struct runner runner;
    begin(&runner, "hang");
    while (runner.attempt.stage_count == 0)
        turn(&runner);
    int64_t now = job_clock_ns();
    assert_true(runner_timeout_ms(&runner, now) <= 61000);
    runner_pump(&runner, now + 59 * INT64_C(1000000000));
    assert_false(runner.killed);
    runner_pump(&runner, now + 61 * INT64_C(1000000000));
    assert_true(runner.killed);
    drive(&runner);
    assert_int_equal(runner.attempt.verdict, VERDICT_TIMED_OUT);
    assert_string_equal(attempt_summary(&runner.attempt),
                        "stage compile did not end within 60 s and was stopped");
    runner_free(&runner);
}

static void trouble_before_the_start_is_not_the_students(void **state)
{
    (void)state;
    struct runner runner;
    struct err err = {0};
    setenv("FAKE_HARNESS", "crash-ready", 1);
    assert_true(runner_warm(&runner, "/", "cp-async", &err));
    drive(&runner);
    assert_non_null(strstr(runner.trouble, "signal 6"));
    assert_non_null(strstr(runner.trouble, "giving up while warming"));
    assert_false(runner_begin(&runner, &(struct runner_job){.source = kernel_path}, &err));
    runner_free(&runner);

    begin(&runner, "refuse");
    drive(&runner);
    assert_false(runner.attempt.began);
    assert_non_null(strstr(runner.trouble, "the job has no source"));
    runner_free(&runner);

    begin(&runner, "hang-ready");
    runner_pump(&runner, job_clock_ns() + 61 * INT64_C(1000000000));
    drive(&runner);
    assert_non_null(strstr(runner.trouble, "not ready within 60 s"));
    runner_free(&runner);
}

static void a_warm_child_waits_and_is_let_go(void **state)
{
    (void)state;
    struct runner runner;
    struct err err = {0};
    setenv("FAKE_HARNESS", "ok", 1);
    assert_true(runner_warm(&runner, "/", "cp-async", &err));
    while (runner.state != RUNNER_WARM)
        turn(&runner);
    assert_true(
        runner_begin(&runner, &(struct runner_job){.source = kernel_path, .backend = "sim"}, &err));
    drive(&runner);
    assert_int_equal(runner.attempt.verdict, VERDICT_PASS);
    runner_free(&runner);
    assert_true(runner_warm(&runner, "/", "cp-async", &err));
    pid_t pid = runner.job.pid;
    runner_free(&runner);
    assert_int_equal(kill(pid, 0), -1);
    setenv("STRIDE_HARNESS", "/no/such", 1);
    assert_false(runner_warm(&runner, "/", "cp-async", &err));
    assert_non_null(strstr(err.text, "/no/such"));
    runner_free(&runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mood_gets_its_verdict),
        cmocka_unit_test(nothing_is_left_running),
        cmocka_unit_test(the_student_can_stop_anything),
        cmocka_unit_test(a_deadline_is_kept),
        cmocka_unit_test(trouble_before_the_start_is_not_the_students),
        cmocka_unit_test(a_warm_child_waits_and_is_let_go),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
