/* Child processes: everything a harness can do to whoever waits for it. */
#include "tui/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct lines {
    int count;
    char first[64], last[64];
};

static void keep_line(void *context, const char *line, size_t len)
{
    struct lines *lines = context;
    snprintf(lines->count++ ? lines->last : lines->first, 64, "%.*s", (int)(len < 63 ? len : 63),
             line);
}

static void start(struct job *job, const char *script)
{
    struct err err = {0};
    char *argv[] = {"/bin/sh", "-c", (char *)script, NULL};
    if (!job_start(job, argv, "/", &err))
        fail_msg("%s", err.text);
}

/* Drives the job to its end; the limit only keeps a broken test from hanging. */
static void drive(struct job *job, struct lines *lines)
{
    int64_t begin = job_clock_ns();
    while (job->state == JOB_RUNNING || job->state == JOB_KILLED) {
        struct pollfd fds[JOB_FDS];
        int count = job_poll_fds(job, fds);
        int64_t now = job_clock_ns();
        poll(fds, (nfds_t)count, job_timeout_ms(job, now));
        job_pump(job, job_clock_ns(), keep_line, lines);
        assert_true(job_clock_ns() - begin < 60000000000);
    }
}

static bool is_alive(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    bool alive = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state != 'Z';
    if (file)
        fclose(file);
    return alive;
}

static void assert_dies(pid_t pid)
{
    for (int i = 0; i < 1000 && is_alive(pid); i++)
        usleep(10000);
    assert_false(is_alive(pid));
}

static void records_and_text_are_kept_apart(void **state)
{
    (void)state;
    struct job job;
    struct lines lines = {0};
    start(&job, "read x; echo out; echo err >&2; echo \"got $x\" >&3; printf last >&3; printf "
                "'\\n' >&3; exit 3");
    struct err err = {0};
    assert_true(job_send(&job, "hello", &err));
    drive(&job, &lines);
    assert_int_equal(lines.count, 2);
    assert_string_equal(lines.first, "got hello");
    assert_string_equal(lines.last, "last");
    assert_non_null(strstr(buf_str(&job.text_bytes), "out\n"));
    assert_non_null(strstr(buf_str(&job.text_bytes), "err\n"));
    assert_true(job.reaped && WIFEXITED(job.status) && WEXITSTATUS(job.status) == 3);
    assert_false(job_send(&job, "more", &err));
    job_free(&job);
}

static void a_program_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct job job;
    struct err err = {0};
    char *argv[] = {"/no/such/program", NULL};
    assert_false(job_start(&job, argv, NULL, &err));
    assert_non_null(strstr(err.text, "/no/such/program"));
    assert_non_null(strstr(err.text, "No such file"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    job_free(&job);
}

static void signals_start_at_their_defaults(void **state)
{
    (void)state;
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sigset_t mask, old;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_BLOCK, &mask, &old);
    struct job job;
    struct lines lines = {0};
    start(&job, "grep -E 'SigBlk|SigIgn' /proc/self/status | tr -d '\\n\\t ' >&3; echo >&3");
    drive(&job, &lines);
    unsigned long long blocked = 1, ignored = 1;
    assert_int_equal(sscanf(lines.first, "SigBlk:%llxSigIgn:%llx", &blocked, &ignored), 2);
    assert_int_equal(blocked, 0);
    /* 32 and 33 are glibc's own: posix_spawn in whoever started the test (make) leaves them
     * ignored. */
    assert_int_equal(ignored & ~0x180000000ull, 0);
    job_free(&job);
    sigprocmask(SIG_SETMASK, &old, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
}

static void no_descriptor_leaks_into_the_child(void **state)
{
    (void)state;
    int leak = fcntl(0, F_DUPFD, 100); /* without O_CLOEXEC */
    struct job job;
    struct lines lines = {0};
    start(&job,
          "for f in /proc/$$/fd/*; do echo ${f##*/}; done | sort -n | tr '\\n' ' ' >&3; echo >&3");
    drive(&job, &lines);
    char name[16];
    snprintf(name, sizeof name, " %d ", leak);
    assert_null(strstr(lines.first, name));
    assert_non_null(strstr(lines.first, "0 1 2 3 "));
    close(leak);
    job_free(&job);
}

static void a_flood_of_text_is_capped_and_ends(void **state)
{
    (void)state;
    struct job job;
    struct lines lines = {0};
    start(&job, "head -c 30000000 /dev/zero; echo done >&3");
    drive(&job, &lines);
    assert_int_equal(lines.count, 1);
    assert_int_equal(job.text_bytes.len, 1 << 20);
    assert_true(job.text_bytes.cut);
    job_free(&job);
}

static void a_record_without_end_is_a_flood(void **state)
{
    (void)state;
    struct job job;
    struct lines lines = {0};
    start(&job, "cat /dev/zero >&3");
    int64_t begin = job_clock_ns();
    while (!job.flooded && job_clock_ns() - begin < 60000000000)
        job_pump(&job, job_clock_ns(), keep_line, &lines);
    assert_true(job.flooded);
    assert_true(job.record_bytes.len <= 4 << 20);
    job_kill(&job, job_clock_ns());
    drive(&job, &lines);
    assert_int_equal(lines.count, 0);
    job_free(&job);
}

/* The grandchild's pid comes as the record line. */
static void grandchild(const char *script, bool kill_it)
{
    struct job job;
    struct lines lines = {0};
    start(&job, script);
    while (!lines.count) {
        struct pollfd fds[JOB_FDS];
        poll(fds, (nfds_t)job_poll_fds(&job, fds), 100);
        job_pump(&job, job_clock_ns(), keep_line, &lines);
    }
    if (kill_it)
        job_kill(&job, job_clock_ns());
    drive(&job, &lines);
    assert_int_equal(job.state, JOB_OVER);
    assert_true(job.reaped);
    pid_t pid = (pid_t)atol(lines.first);
    assert_true(pid > 1);
    assert_dies(pid);
    job_free(&job);
}

static void grandchildren_that_hold_the_pipes_end_too(void **state)
{
    (void)state;
    grandchild("sleep 1000 & echo $! >&3", false);
    grandchild("sleep 1000 & echo $! >&3; wait", true);
}

static void grandchildren_in_their_own_session_end_too(void **state)
{
    (void)state;
    grandchild("setsid sh -c 'echo $$ >&3; exec sleep 1000' & while :; do sleep 1; done", true);
    grandchild("setsid sh -c 'echo $$ >&3; exec sleep 1000' & sleep 0.3", false);
}

static void a_stopped_child_is_killed(void **state)
{
    (void)state;
    struct job job;
    struct lines lines = {0};
    start(&job, "kill -STOP $$; sleep 1000");
    job_pump(&job, job_clock_ns(), keep_line, &lines);
    job_kill(&job, job_clock_ns());
    drive(&job, &lines);
    assert_true(job.reaped && WIFSIGNALED(job.status) && WTERMSIG(job.status) == SIGKILL);
    job_free(&job);
}

static void a_child_that_ignores_its_input_blocks_nobody(void **state)
{
    (void)state;
    struct job job;
    struct err err = {0};
    start(&job, "sleep 1000");
    char *line = calloc(1, 100001);
    memset(line, 'x', 100000);
    bool sent = true;
    for (int i = 0; i < 100 && sent; i++)
        sent = job_send(&job, line, &err);
    assert_false(sent);
    assert_true(*err.text);
    free(line);
    job_free(&job);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void freeing_kills(void **state)
{
    (void)state;
    struct job job;
    start(&job, "sleep 1000");
    pid_t pid = job.pid;
    job_free(&job);
    assert_dies(pid);
    job_free(&job);
    struct job zero = {0};
    job_free(&zero);
    assert_true(fcntl(0, F_GETFD) >= 0); /* descriptor 0 was not closed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_and_text_are_kept_apart),
        cmocka_unit_test(a_program_that_is_not_there_is_named),
        cmocka_unit_test(signals_start_at_their_defaults),
        cmocka_unit_test(no_descriptor_leaks_into_the_child),
        cmocka_unit_test(a_flood_of_text_is_capped_and_ends),
        cmocka_unit_test(a_record_without_end_is_a_flood),
        cmocka_unit_test(grandchildren_that_hold_the_pipes_end_too),
        cmocka_unit_test(grandchildren_in_their_own_session_end_too),
        cmocka_unit_test(a_stopped_child_is_killed),
        cmocka_unit_test(a_child_that_ignores_its_input_blocks_nobody),
        cmocka_unit_test(freeing_kills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
