/* run, edit: one attempt from the command line. */
#include "cli_core.h"

#include "done.h"

#include "editor.h"
#include "recorder.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ctrl-C stops the attempt the first time and the program the second time. */
static volatile sig_atomic_t stop_asked;

static void ask_stop(int sig)
{
    stop_asked = 1;
    signal(sig, SIG_DFL);
}

static void watch_signals(struct sigaction old[3], bool on)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct sigaction action = {.sa_handler = ask_stop};
        if (on) {
            sigaction(signals[i], NULL, &old[i]);
            if (old[i].sa_handler != SIG_IGN) /* nohup means it */
                sigaction(signals[i], &action, NULL);
        } else {
            sigaction(signals[i], &old[i], NULL);
        }
    }
}

static void show_progress(const struct runner *runner, int64_t now_ns)
{
    const struct attempt_stage *stage =
        runner->state == RUNNER_RUNNING ? attempt_running(&runner->attempt) : NULL;
    struct buf note = {0};
    clean_line(&note, runner->attempt.note, strlen(runner->attempt.note));
    double seconds = (double)(now_ns - (stage ? stage->since_ns : runner->warm_since_ns)) / 1e9;
    fprintf(stderr, "\r\033[K%s %.1f s %s", stage ? stage->name : _("starting"), seconds,
            buf_str(&note));
    fflush(stderr);
    buf_free(&note);
}

static void drive(struct runner *runner, bool progress)
{
    struct sigaction old[3];
    stop_asked = 0;
    watch_signals(old, true);
    while (runner->state != RUNNER_OVER) {
        struct pollfd fds[JOB_FDS];
        int64_t now_ns = job_clock_ns();
        int wait = runner_timeout_ms(runner, now_ns);
        if (progress && (wait < 0 || wait > 100))
            wait = 100;
        poll(fds, (nfds_t)runner_poll_fds(runner, fds), wait);
        now_ns = job_clock_ns();
        if (stop_asked)
            runner_stop(runner, now_ns);
        runner_pump(runner, now_ns);
        if (progress)
            show_progress(runner, now_ns);
    }
    watch_signals(old, false);
    if (progress)
        fputs("\r\033[K", stderr);
}

int cli_trouble_status(const struct runner *runner)
{
    return runner->job.reaped && WIFEXITED(runner->job.status) &&
                   WEXITSTATUS(runner->job.status) == CLI_BROKEN_LAB
               ? CLI_BROKEN_LAB
               : CLI_FAILED;
}

int cli_judge(struct cli *cli, struct runner *runner, const char *lab, const struct runner_job *job,
              bool progress)
{
    struct err err = {0};
    if (!runner_can_read(job, &err)) {
        complain("%s", err.text);
        return CLI_USAGE;
    }
    if ((runner->state == RUNNER_OFF && !runner_warm(runner, cli->library.root, lab, &err)) ||
        !runner_begin(runner, job, &err)) {
        /* A child that is gone already knows better what happened than the pipe to it. */
        for (int i = 0; i < 500 && runner->state != RUNNER_OFF && runner->state != RUNNER_OVER;
             i++) {
            runner_pump(runner, job_clock_ns());
            if (runner->state != RUNNER_OVER)
                poll(NULL, 0, 10);
        }
        complain("%s", *runner->trouble ? runner->trouble : err.text);
        return runner->state == RUNNER_OVER ? cli_trouble_status(runner) : CLI_FAILED;
    }
    drive(runner, progress && isatty(STDERR_FILENO));
    if (*runner->trouble) {
        complain("%s", runner->trouble);
        return cli_trouble_status(runner);
    }
    return CLI_OK;
}

/* What the lab asks for beside a pass, once it passes. */
static void say_to_do(struct cli *cli, const struct labfile *lab)
{
    json_t *progress = library_load_state(&cli->library, "progress", NULL);
    json_t *answers = library_load_state(&cli->library, "quiz", NULL);
    const json_t *reached = json_object_get(progress, lab->slug);
    struct buf text = {0};
    if (done_in_part(lab, reached, json_object_get(answers, lab->slug)))
        done_say(lab, reached, json_object_get(answers, lab->slug), &text);
    if (text.len)
        say("%s\n", buf_str(&text));
    buf_free(&text);
    json_decref(progress);
    json_decref(answers);
}

int cli_attempt(struct cli *cli, const struct labfile *lab, const char *source)
{
    struct runner runner = {0};
    struct runner_job job = {.source = source, .backend = cli->backend};
    struct err notice = {0}, err = {0};
    char id[41] = "";
    int status = cli_judge(cli, &runner, lab->slug, &job, true);
    if (status == CLI_OK) {
        bool kept = cli->no_commit ||
                    recorder_keep(cli->history, &cli->library, &runner, id, &notice, &err);
        const json_t *record = runner.attempt.record;
        if (kept && !cli->no_commit)
            cli_quiz_decide(cli, lab, record);
        if (cli->json)
            say_json(record);
        else
            cli_report(record, id);
        if (!cli->json && !cli->no_commit)
            say_to_do(cli, lab);
        fflush(stdout);
        if (*notice.text)
            complain("%s", notice.text);
        if (!kept)
            complain("%s", err.text);
        status = verdict_exit_status(runner.attempt.verdict);
    }
    runner_free(&runner);
    return status;
}

int cli_run(struct cli *cli)
{
    const struct labfile *lab = cli_lab(cli, cli->arguments[0]);
    if (!lab)
        return CLI_USAGE;
    const char *file = cli->argument_count > 1 ? cli->arguments[1] : NULL;
    if (file && (access(file, R_OK) != 0 || file_is_dir(file))) {
        complain(_("cannot read %s: %s"), file, strerror(file_is_dir(file) ? EISDIR : errno));
        return CLI_USAGE;
    }
    if (!file && !cli_prepare(cli, lab))
        return CLI_FAILED;
    if (!cli->no_commit && cli->library.writable && cli_open_history(cli) && !file)
        recorder_keep_starter(cli->history, lab->slug);
    char *own = library_work_path(&cli->library, lab->slug, "kernel.cu");
    int status = cli_attempt(cli, lab, file ? file : own);
    free(own);
    return status;
}

/* ---- edit */

/* The line of the first error of the last attempt, while it is about the text that is there. */
static int first_error_line(struct cli *cli, const struct labfile *lab)
{
    char *path = library_work_path(&cli->library, lab->slug, "record.json");
    struct buf text = {0};
    int line = 0;
    json_t *record =
        file_read(&text, path, 16 << 20, NULL) ? attempt_load_record(text.data, text.len) : NULL;
    const json_t *found = json_object_get(json_object_get(record, "build"), "diagnostics");
    for (size_t i = 0; i < json_array_size(found) && !line; i++)
        if (strcmp(json_text_at(json_array_get(found, i), "severity"), "error") == 0)
            line = (int)json_int_at(json_array_get(found, i), "line");
    json_decref(record);
    buf_free(&text);
    free(path);
    return line > 0 ? line : 0;
}

/* In the foreground: the editor has the terminal and its signals until it ends. */
static int wait_for_editor(const struct editor *editor)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    int status = 127 << 8;
    pid_t pid = fork();
    if (pid == 0)
        editor_exec(editor);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return status;
}

static bool same(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && memcmp(buf_str(a), buf_str(b), a->len) == 0;
}

int cli_edit(struct cli *cli)
{
    const struct labfile *lab = cli_lab(cli, cli->arguments[0]);
    if (!lab)
        return CLI_USAGE;
    if (!cli_prepare(cli, lab))
        return CLI_FAILED;
    if (!cli->no_commit && cli->library.writable && cli_open_history(cli))
        recorder_keep_starter(cli->history, lab->slug);
    struct editor editor;
    struct err err = {0}, trouble = {0};
    struct buf before = {0}, after = {0};
    char *path = library_work_path(&cli->library, lab->slug, "kernel.cu");
    int result = CLI_OK;
    if (!editor_choose(&editor, path, first_error_line(cli, lab), &err)) {
        complain("%s", err.text);
        free(path);
        return CLI_CANNOT;
    }
    library_read_kernel(&cli->library, lab->slug, &before, NULL);
    int64_t since_ns = job_clock_ns();
    int status = wait_for_editor(&editor);
    double seconds = (double)(job_clock_ns() - since_ns) / 1e9;
    bool readable = library_read_kernel(&cli->library, lab->slug, &after, &trouble);
    bool changed = !readable || !same(&before, &after);
    if (editor_explain(&editor, status, seconds, changed, &err)) {
        complain("%s", err.text);
        result = status == 0 ? CLI_OK : CLI_CANNOT;
    }
    if (!readable) {
        complain("%s", trouble.text);
        result = CLI_FAILED;
    } else if (changed) {
        result = cli_attempt(cli, lab, path);
    } else if (result == CLI_OK) {
        say("%s\n", _("nothing was changed, so nothing was run"));
    }
    editor_free(&editor);
    buf_free(&before);
    buf_free(&after);
    free(path);
    return result;
}
