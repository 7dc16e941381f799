#include "runner.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KERNEL_MOST = 1 << 20, LISTING_MOST = 32 << 20 };

#define EXIT_GRACE_NS                                                                              \
    INT64_C(3000000000) /* from `end` until the child is killed for still being there */

bool runner_find_harness(char **out, struct err *err)
{
    const char *named = getenv("STRIDE_HARNESS");
    if (named && *named) {
        if (access(named, X_OK) != 0 || file_is_dir(named))
            return err_set(
                err, _("STRIDE_HARNESS=%s is no program: unset it, or name stride-harness"), named);
        *out = mem_strdup(named);
        return true;
    }
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len > 0) {
        program[len] = '\0';
        *strrchr(program, '/') = '\0';
        static const char *const places[] = {"stride-harness", "../libexec/stride-harness"};
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char *place = path_join(program, places[i]);
            if (access(place, X_OK) == 0 && !file_is_dir(place)) {
                *out = place;
                return true;
            }
            free(place);
        }
    }
    return err_set(err,
                   _("cannot find stride-harness beside the program %s: install it there, or set "
                     "STRIDE_HARNESS"),
                   len > 0 ? program : "");
}

static bool make_folder(struct runner *runner, struct err *err)
{
    char *pattern = path_join(path_temporary(), "stride-XXXXXX");
    if (!mkdtemp(pattern)) {
        err_set(err,
                _("cannot create a temporary folder %s: set TMPDIR to one that can be written"),
                pattern);
        free(pattern);
        return false;
    }
    runner->folder = pattern;
    return true;
}

static void remove_folder(struct runner *runner)
{
    file_remove_folder(runner->folder);
    free(runner->folder);
    runner->folder = NULL;
}

bool runner_warm(struct runner *runner, const char *root, const char *lab, struct err *err)
{
    *runner = (struct runner){.job = {.in = -1, .records = -1, .text = -1}};
    char *harness = NULL;
    if (!runner_find_harness(&harness, err))
        return false;
    char *argv[] = {harness,     "--root", (char *)root,           "--lab",
                    (char *)lab, "--lang", (char *)msg_language(), NULL};
    bool ok = job_start(&runner->job, argv, NULL, err);
    free(harness);
    if (!ok)
        return false;
    runner->lab = mem_strdup(lab);
    runner->state = RUNNER_WARMING;
    runner->warm_since_ns = runner->job.started_ns;
    return true;
}

/* The folder where the student's own headers lie; NULL when it can't be said in JSON. */
static json_t *headers_folder(const char *source)
{
    const char *slash = strrchr(source, '/');
    char *name = mem_printf("%.*s", slash ? (int)(slash - source) + 1 : 1, slash ? source : ".");
    char *whole = realpath(name, NULL);
    json_t *folder = whole ? json_string(whole) : NULL;
    free(whole);
    free(name);
    return folder;
}

static char *job_line(const struct runner *runner, const struct runner_job *job, const char *source)
{
    json_t *stages = json_array();
    static const char *const all[] = {"compile",  "check",  "hazards", "time",
                                      "timeline", "disasm", NULL};
    for (const char *const *name = job->stages ? job->stages : all; *name; name++)
        json_array_append_new(stages, json_string(*name));
    /* Paths that are not UTF-8 can't be said in JSON; the snapshot's path always can. */
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "nonce", runner->attempt.nonce,
                             "source", source, "name", "kernel.cu", "out", runner->folder,
                             "backend", job->backend ? job->backend : "auto", "stages", stages);
    json_t *beside = headers_folder(job->source);
    if (beside)
        json_object_set_new(line, "beside", beside);
    if (job->seed)
        json_object_set_new(line, "seed", json_integer(job->seed));
    char *text = json_dumps(line, JSON_COMPACT);
    json_decref(line);
    return text;
}

bool runner_can_read(const struct runner_job *job, struct err *err)
{
    struct buf text = {0};
    bool ok = file_read(&text, job->source, KERNEL_MOST, err);
    buf_free(&text);
    return ok;
}

bool runner_begin(struct runner *runner, const struct runner_job *job, struct err *err)
{
    if (runner->state != RUNNER_WARMING && runner->state != RUNNER_WARM)
        return err_set(err, _("there is no harness to give the kernel to"));
    buf_clear(&runner->kernel);
    if (!file_read(&runner->kernel, job->source, KERNEL_MOST, err) ||
        (!runner->folder && !make_folder(runner, err)))
        return false;
    /* The harness judges this copy, so that record, commit and listing are about one text even when
     * the student saves again meanwhile. */
    char *copy = path_join(runner->folder, "kernel.cu");
    bool ok = file_write(copy, buf_str(&runner->kernel), runner->kernel.len, false, err);
    if (ok) {
        char nonce[ATTEMPT_NONCE];
        attempt_make_nonce(nonce);
        attempt_init(&runner->attempt, runner->lab, nonce, runner->ready, job_clock_ns());
        char *line = job_line(runner, job, copy);
        ok = line ? job_send(&runner->job, line, err)
                  : err_set(err, _("the path %s is not UTF-8: set TMPDIR to one that is"), copy);
        free(line);
        if (ok)
            runner->state = RUNNER_RUNNING;
        else
            attempt_free(&runner->attempt);
    }
    free(copy);
    return ok;
}

int runner_poll_fds(const struct runner *runner, struct pollfd fds[JOB_FDS])
{
    return runner->state == RUNNER_OFF ? 0 : job_poll_fds(&runner->job, fds);
}

int runner_timeout_ms(const struct runner *runner, int64_t now_ns)
{
    if (runner->state == RUNNER_OFF || runner->state == RUNNER_OVER)
        return -1;
    int wait = job_timeout_ms(&runner->job, now_ns);
    if (runner->state == RUNNER_RUNNING && !runner->killed) {
        int64_t at = runner->ended ? runner->ended_ns + EXIT_GRACE_NS
                                   : attempt_deadline_ns(&runner->attempt);
        int64_t ms = at == INT64_MAX ? INT_MAX : (at - now_ns) / 1000000 + 1;
        ms = ms < 0 ? 0 : ms;
        if (wait < 0 || ms < wait)
            wait = (int)ms;
    }
    return wait;
}

struct pump {
    struct runner *runner;
    int64_t now_ns;
    bool changed;
};

static void take_line(void *context, const char *line, size_t len)
{
    struct pump *pump = context;
    struct runner *runner = pump->runner;
    if (runner->state == RUNNER_RUNNING) {
        attempt_event(&runner->attempt, line, len, pump->now_ns);
        runner->ready = runner->attempt.ready;
    } else {
        json_t *event = len < 65536 ? json_loadb(line, len, 0, NULL) : NULL;
        const char *kind = json_string_value(json_object_get(event, "event"));
        if (kind && strcmp(kind, "ready") == 0) {
            runner->ready = true;
            runner->state = RUNNER_WARM;
        }
        json_decref(event);
    }
    pump->changed = true;
}

static void kill_for(struct runner *runner, enum attempt_death death, int64_t now_ns)
{
    if (runner->killed)
        return;
    runner->killed = true;
    runner->death = death;
    job_kill(&runner->job, now_ns);
}

/* The last words of the child, for a person: its final line that says something. */
static void last_words(const struct runner *runner, char out[200])
{
    struct buf clean = {0};
    clean_text(&clean, buf_str(&runner->job.text_bytes), runner->job.text_bytes.len);
    while (clean.len && strchr("\n ", clean.data[clean.len - 1]))
        clean.data[--clean.len] = '\0';
    const char *line = clean.len ? strrchr(clean.data, '\n') : NULL;
    line = line ? line + 1 : buf_str(&clean);
    size_t len = utf8_whole(line, strlen(line) > 199 ? 199 : strlen(line));
    memcpy(out, line, len);
    out[len] = '\0';
    buf_free(&clean);
}

static void explain_trouble(struct runner *runner)
{
    const struct job *job = &runner->job;
    char words[200], how[80];
    last_words(runner, words);
    if (runner->killed && runner->death == DEATH_DEADLINE)
        snprintf(how, sizeof how, "%s", _("was not ready within 60 s"));
    else if (job->reaped && WIFSIGNALED(job->status))
        snprintf(how, sizeof how, _("was killed by signal %d"), WTERMSIG(job->status));
    else
        snprintf(how, sizeof how, _("ended with status %d"),
                 job->reaped ? WEXITSTATUS(job->status) : -1);
    snprintf(runner->trouble, sizeof runner->trouble, _("stride-harness %s before it began%s%s"),
             how, *words ? ": " : "", words);
}

static void conclude(struct runner *runner)
{
    const struct job *job = &runner->job;
    if (runner->state != RUNNER_RUNNING) { /* died while warming or idle */
        explain_trouble(runner);
        runner->state = RUNNER_OVER;
        attempt_init(&runner->attempt, runner->lab, "", false, 0);
        attempt_child_over(&runner->attempt, DEATH_EXIT, 0);
        return;
    }
    enum attempt_death death = runner->death;
    int code = 0;
    if (!runner->killed && job->reaped && WIFSIGNALED(job->status)) {
        death = DEATH_SIGNAL;
        code = WTERMSIG(job->status);
    } else if (!runner->killed) {
        death = DEATH_EXIT;
        code = job->reaped && WIFEXITED(job->status) ? WEXITSTATUS(job->status) : -1;
    }
    if (!runner->attempt.began && !runner->attempt.ended && death != DEATH_STOPPED)
        explain_trouble(runner);
    attempt_child_over(&runner->attempt, death, code);
    if (job->text_bytes.len && !json_object_get(runner->attempt.record, "output"))
        attempt_set_output(&runner->attempt, job->text_bytes.data, job->text_bytes.len,
                           job->text_bytes.cut);
    runner->state = RUNNER_OVER;
}

bool runner_pump(struct runner *runner, int64_t now_ns)
{
    if (runner->state == RUNNER_OFF || runner->state == RUNNER_OVER)
        return false;
    struct pump pump = {.runner = runner, .now_ns = now_ns};
    job_pump(&runner->job, now_ns, take_line, &pump);
    if (runner->state == RUNNER_RUNNING) {
        if (runner->attempt.ended && !runner->ended) {
            runner->ended = true;
            runner->ended_ns = now_ns;
        }
        if (runner->job.flooded)
            kill_for(runner, DEATH_FLOOD, now_ns);
        else if (runner->ended && now_ns - runner->ended_ns > EXIT_GRACE_NS)
            kill_for(runner, DEATH_DEADLINE, now_ns);
        else if (!runner->ended && now_ns > attempt_deadline_ns(&runner->attempt))
            kill_for(runner, DEATH_DEADLINE, now_ns);
    } else if (runner->job.flooded) {
        kill_for(runner, DEATH_FLOOD, now_ns);
    }
    if (runner->job.state == JOB_OVER) {
        conclude(runner);
        pump.changed = true;
    }
    return pump.changed;
}

void runner_stop(struct runner *runner, int64_t now_ns)
{
    if (runner->state != RUNNER_OFF && runner->state != RUNNER_OVER)
        kill_for(runner, DEATH_STOPPED, now_ns);
}

bool runner_take_listing(struct runner *runner, const char *name, struct buf *out)
{
    if (!runner->folder)
        return false;
    char *path = path_join(runner->folder, name);
    bool ok = file_read(out, path, LISTING_MOST, NULL);
    free(path);
    return ok;
}

void runner_free(struct runner *runner)
{
    if (runner->state != RUNNER_OFF)
        job_free(&runner->job);
    remove_folder(runner);
    if (runner->attempt.record)
        attempt_free(&runner->attempt);
    buf_free(&runner->kernel);
    free(runner->lab);
    *runner = (struct runner){.job = {.in = -1, .records = -1, .text = -1}};
}
