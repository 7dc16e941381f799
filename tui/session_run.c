/* Attempts and the editor: the children of a session.
 *
 * One harness child is kept warm while the student reads and edits. It takes one job, ends, and the
 * next one is started. After idle_ns without use it is let go, since many students share a box; the
 * next key that needs it starts another. */
#include "tui/session_core.h"

#include "harness/base/msg.h"
#include "tui/recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t TICK_NS = 100LL * 1000000; /* how often elapsed time is shown */

bool session_is_running(const struct session *session)
{
    return session->judging;
}

bool session_is_idle(const struct session *session)
{
    enum runner_state state = session->runner.state;
    return !session->judging && !session->editing && state != RUNNER_WARMING &&
           state != RUNNER_RUNNING;
}

void session_warm(struct session *session, int64_t now_ns)
{
    const struct labfile *lab = app_lab(&session->app);
    struct err err = {0};
    session->idle_since_ns = now_ns;
    if (!lab || !session->started || session->runner.state != RUNNER_OFF)
        return;
    if (!runner_warm(&session->runner, session->library.root, lab->slug, &err))
        app_say(&session->app, STYLE_FAIL, "%s", err.text);
}

void session_let_go(struct session *session, int64_t now_ns)
{
    (void)now_ns;
    app_set_attempt(&session->app, NULL);
    session->judging = session->again = false;
    runner_free(&session->runner);
}

void session_run(struct session *session, int64_t now_ns)
{
    struct app *app = &session->app;
    const struct labfile *lab = app_lab(app);
    struct err err = {0};
    if (!lab) {
        app_say(app, STYLE_INFO, "%s", _("open a lab first: o shows the course"));
        return;
    }
    if (session->judging) {
        app_say(app, STYLE_INFO, "%s", _("an attempt is running; x stops it"));
        return;
    }
    session_load_kernel(session);
    if (session->runner.state == RUNNER_OVER)
        session_let_go(session, now_ns);
    session_warm(session, now_ns);
    char *source = library_work_path(&session->library, lab->slug, "kernel.cu");
    struct runner_job job = {.source = source, .backend = app_backend_name(app->backend)};
    if (session->runner.state == RUNNER_OFF) {
        ; /* session_warm has said why */
    } else if (runner_begin(&session->runner, &job, &err)) {
        session->judging = true;
        app->kernel_changed = false;
        app->diff_open = app->hint_open = false; /* they are about the attempt before */
        app->hints_shown = 0;
        app_set_attempt(app, &session->runner.attempt);
        app_bring(app, PANE_CORRECTNESS);
    } else {
        app_say(app, STYLE_FAIL, "%s", err.text);
    }
    free(source);
}

/* ---- the end of an attempt */

static void keep(struct session *session)
{
    struct err notice = {0}, err = {0};
    char id[41];
    if (*session->runner.trouble) /* the harness broke, not the kernel */
        app_say(&session->app, STYLE_FAIL, "%s", session->runner.trouble);
    else if (!recorder_keep(session->history, &session->library, &session->runner, id, &notice,
                            &err))
        app_say(&session->app, STYLE_FAIL, "%s", err.text);
    else if (*notice.text)
        app_say(&session->app, STYLE_INFO, "%s", notice.text);
}

static void finish(struct session *session, int64_t now_ns)
{
    struct runner *runner = &session->runner;
    struct app *app = &session->app;
    struct buf ptx = {0}, sass = {0};
    runner_take_listing(runner, "kernel.ptx", &ptx);
    runner_take_listing(runner, "kernel.sass", &sass);
    keep(session);
    json_t *record = json_incref(runner->attempt.record);
    session_load_progress(session);
    app_set_attempt(app, NULL);
    app_set_record(app, record);
    session_save_quiz(session); /* a prediction may have been decided */
    /* Empty ones too: a listing belongs to the record */
    app_set_listings(app, &ptx, &sass);
    json_decref(record);
    buf_free(&ptx);
    buf_free(&sass);
    session->judging = false;
    bool works = *runner->trouble == '\0', again = session->again && works;
    session->again = false;
    runner_free(runner);
    session_load_history(session, app->history_count + 2 > 500 ? app->history_count + 2 : 500);
    if (works)
        session_warm(session, now_ns);
    if (again)
        session_run(session, now_ns);
}

/* ---- the loop's side */

int session_poll_fds(const struct session *session, struct pollfd fds[SESSION_FDS])
{
    int count = runner_poll_fds(&session->runner, fds);
    if (session->watch.fd >= 0)
        fds[count++] = (struct pollfd){.fd = session->watch.fd, .events = POLLIN};
    return count;
}

static int sooner(int a, int64_t ns)
{
    int64_t ms = ns <= 0 ? 0 : ns / 1000000 + 1;
    if (ms > 3600000)
        ms = 3600000;
    return a < 0 || ms < a ? (int)ms : a;
}

int session_timeout_ms(const struct session *session, int64_t now_ns)
{
    int wait = runner_timeout_ms(&session->runner, now_ns);
    if (session->judging && !session->editing)
        wait = sooner(wait, TICK_NS - now_ns % TICK_NS);
    if (session->runner.state == RUNNER_WARM)
        wait = sooner(wait, session->idle_since_ns + session->idle_ns - now_ns);
    return wait;
}

static bool look_at_kernel(struct session *session, int64_t now_ns)
{
    if (!watch_take(&session->watch) || session->editing || !session_load_kernel(session))
        return false;
    if (session->detached && session->judging)
        session->again = true;
    else if (session->detached)
        session_run(session, now_ns);
    else
        app_say(&session->app, STYLE_INFO, "%s", _("kernel.cu was changed on disk; r runs it"));
    return true;
}

bool session_pump(struct session *session, int64_t now_ns)
{
    struct runner *runner = &session->runner;
    bool changed = runner_pump(runner, now_ns);
    if (changed && session->judging)
        app_touch(&session->app);
    if (runner->state == RUNNER_OVER && session->judging) {
        finish(session, now_ns);
    } else if (runner->state == RUNNER_OVER) {
        if (*runner->trouble)
            app_say(&session->app, STYLE_FAIL, "%s", runner->trouble);
        runner_free(runner);
    } else if (runner->state == RUNNER_WARM &&
               now_ns - session->idle_since_ns >= session->idle_ns) {
        runner_free(runner);
    }
    changed = look_at_kernel(session, now_ns) || changed;
    if (changed)
        app_settle(&session->app);
    return changed;
}

/* ---- the editor */

bool session_edit(struct session *session, int line, int64_t now_ns)
{
    struct app *app = &session->app;
    const struct labfile *lab = app_lab(app);
    struct err err = {0};
    if (!lab) {
        app_say(app, STYLE_INFO, "%s", _("open a lab first: o shows the course"));
        return false;
    }
    if (!library_prepare(&session->library, lab, NULL, &err)) {
        app_say(app, STYLE_FAIL, "%s", err.text);
        return false;
    }
    session_load_kernel(session);
    char *path = library_work_path(&session->library, lab->slug, "kernel.cu");
    bool ok = editor_choose(&session->editor, path, line, &err);
    free(path);
    if (!ok) {
        app_say(app, STYLE_FAIL, "%s", err.text);
        return false;
    }
    session_warm(session, now_ns); /* it may have been let go: be warm when the editor is done */
    session->editing = true;
    session->editor_since_ns = now_ns;
    session->detached = false;
    return true;
}

static void come_back(struct session *session, int status, int64_t now_ns)
{
    struct app *app = &session->app;
    struct err err = {0};
    double seconds = (double)(now_ns - session->editor_since_ns) / 1e9;
    app->notice[0] = '\0';
    bool changed = session_load_kernel(session);
    bool say = editor_explain(&session->editor, status, seconds, changed, &err);
    bool started = !WIFEXITED(status) || WEXITSTATUS(status) != 127;
    session->detached = started && !changed && seconds < 1;
    editor_free(&session->editor);
    session->editing = false;
    session->editor_pid = 0;
    session->idle_since_ns = now_ns;
    if (changed && session->judging)
        session->again = true;
    else if (changed)
        session_run(session, now_ns);
    else if (!say && !*app->notice)
        app_say(app, STYLE_INFO, "%s",
                _("nothing was changed, so nothing was run; r runs it anyway"));
    if (say)
        app_say(app, STYLE_WARN, "%s", err.text);
    session_warm(session, now_ns);
    app_settle(app);
}

bool session_reap_editor(struct session *session, int64_t now_ns)
{
    int status = 0;
    if (!session->editing || session->editor_pid <= 0)
        return false;
    pid_t pid = waitpid(session->editor_pid, &status, WNOHANG | WUNTRACED);
    if (pid == 0 || (pid < 0 && errno == EINTR))
        return false;
    if (pid > 0 && WIFSTOPPED(status)) {
        kill(0, SIGTSTP); /* the student wants the shell: an editor that stops takes us with it */
        return false;
    }
    come_back(session, pid < 0 ? 0 : status, now_ns);
    return true;
}

void session_drop_editor(struct session *session)
{
    if (session->editing && session->editor_pid > 0) {
        kill(session->editor_pid, SIGHUP);
        waitpid(session->editor_pid, NULL, WNOHANG);
    }
    if (session->editing)
        editor_free(&session->editor);
    session->editing = false;
}

void session_save_quiz(struct session *session)
{
    struct err err = {0};
    const json_t *state = session->app.quiz_state;
    if (session->library.writable && state &&
        !library_save_state(&session->library, "quiz", state, &err))
        app_say(&session->app, STYLE_WARN, "%s", err.text);
}
