/* How to read this file: host_child_do writes a command and pumps the three pipes. take_line sorts
 * what comes on the events' pipe; judge_death ends a child that did not come to the command's end;
 * host_death.c makes a sentence of it. */
#include "host_child.h"

#include "emit.h"
#include "host_death.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 400.0  /* for the question where it is stuck */
#define REAP_MS   2000.0 /* a process that holds a GPU may be slow to die */

enum { LINE_MOST = 8 << 20, OUTPUT_MOST = 64 << 10, ARGUMENTS_MOST = 24 };

extern char **environ;

/* ---- start */

static char *find_program(void)
{
    char program[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len <= 0)
        return NULL;
    program[len] = '\0';
    *strrchr(program, '/') = '\0';
    static const char *const places[] = {"stride-host", "../stride-host"}; /* tests: build/tests */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = path_join(program, places[i]);
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* Close on exec, and away from 0..3, which the child's start overwrites. */
static bool open_pipe(int ends[2])
{
    int raw[2];
    if (pipe2(raw, O_CLOEXEC) != 0)
        return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(raw[i], F_DUPFD_CLOEXEC, 10);
        close(raw[i]);
    }
    return ends[0] >= 0 && ends[1] >= 0;
}

static int spawn(pid_t *pid, char *const argv[], int in, int out, int text, int events)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, text, 2);
    posix_spawn_file_actions_adddup2(&actions, events, 3);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn(pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static void add_option(char *argv[], int *count, const char *name, const char *value)
{
    if (!value)
        return;
    argv[(*count)++] = mem_strdup(name);
    argv[(*count)++] = mem_strdup(value);
}

static bool start_program(struct host_child *out, char *argv[], struct err *err)
{
    int pipes[4][2] = {0}; /* commands, out, text, events */
    int opened = 0;
    while (opened < 4 && open_pipe(pipes[opened]))
        opened++;
    int failed = opened < 4
                     ? errno
                     : spawn(&out->pid, argv, pipes[0][0], pipes[1][1], pipes[2][1], pipes[3][1]);
    for (int i = 0; i < opened; i++)
        close(pipes[i][i != 0]); /* the child's ends */
    if (failed) {
        for (int i = 0; i < opened; i++)
            close(pipes[i][i == 0]);
        out->pid = 0;
        return err_set(err, _("%s cannot be started: %s"), argv[0], strerror(failed));
    }
    out->commands = pipes[0][1];
    out->out = pipes[1][0];
    out->text = pipes[2][0];
    out->events = pipes[3][0];
    fcntl(out->out, F_SETFL, O_NONBLOCK);
    fcntl(out->text, F_SETFL, O_NONBLOCK);
    fcntl(out->events, F_SETFL, O_NONBLOCK);
    return true;
}

static void make_nonce(char *out, size_t len)
{
    unsigned long long number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (unsigned long long)getpid();
    snprintf(out, len, "%016llx", number);
}

bool host_child_start(struct host_child *out, const struct host_child_options *options,
                      struct err *err)
{
    char *argv[ARGUMENTS_MOST] = {find_program()}, seed[24], device[12];
    int count = 1;
    *out = (struct host_child){
        .line.cap = LINE_MOST, .output.cap = OUTPUT_MOST, .errors.cap = OUTPUT_MOST};
    if (!argv[0])
        return err_set(err, "%s",
                       _("stride-host is missing beside stride-harness; install Stride anew"));
    snprintf(out->entry, sizeof out->entry, "%s", options->entry);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)options->seed);
    snprintf(device, sizeof device, "%d", options->device);
    make_nonce(out->nonce, sizeof out->nonce);
    add_option(argv, &count, "--nonce", out->nonce);
    add_option(argv, &count, "--root", options->root);
    add_option(argv, &count, "--lang", msg_language());
    add_option(argv, &count, "--lab", options->lab);
    add_option(argv, &count, "--cudart", options->cudart);
    add_option(argv, &count, "--cupti", options->cupti);
    add_option(argv, &count, "--seed", seed);
    add_option(argv, &count, "--device", device);
    bool ok = start_program(out, argv, err);
    for (int i = 0; i < count; i++)
        free(argv[i]);
    return ok;
}

/* ---- listening */

static int line_of(const json_t *object)
{
    return (int)json_integer_value(json_object_get(object, "line"));
}

static void enter_phase(struct host_child *child, const char *phase, const json_t *event)
{
    snprintf(child->phase, sizeof child->phase, "%s", phase);
    child->n = (uint64_t)json_integer_value(json_object_get(event, "n"));
    child->round = (unsigned)json_integer_value(json_object_get(event, "round"));
    child->phase_ms = clock_ms();
    child->line_no = 0;
    child->touched |= strcmp(phase, "solution") != 0 && strcmp(phase, "load-own") != 0;
}

/* What signal handlers of the child say before the end. */
static bool take_last_words(struct host_child *child, const json_t *event)
{
    const json_t *crash = json_object_get(event, "crash"), *end = json_object_get(event, "exit"),
                 *stuck = json_object_get(event, "stuck");
    if (crash && !child->crash_signal)
        child->crash_ms = clock_ms();
    if (crash)
        child->crash_signal = (int)json_integer_value(json_object_get(crash, "signal"));
    const json_t *touched = json_object_get(event, "touched");
    if (touched) {
        child->touched_device = json_object_get(touched, "device") != NULL;
        child->left_function = json_object_get(touched, "function") != NULL;
        child->touched_stack = !child->touched_device && !child->left_function;
        return true;
    }
    const json_t *denied = json_object_get(event, "denied");
    if (denied) {
        child->denied = true;
        child->denied_line = line_of(denied);
        return true;
    }
    const json_t *said = crash ? crash : end ? end : stuck;
    if (said && line_of(said))
        child->line_no = line_of(said);
    return said != NULL;
}

/* True when the command has come to its end. */
static bool take_line(struct host_child *child, const char *line, host_listener *listener,
                      void *context, struct host_outcome *out)
{
    const char *own = strstr(line, child->nonce); /* before it may stand what somebody else wrote */
    if (!own)
        return false;
    json_t *event = json_loads(own + strlen(child->nonce), 0, NULL);
    const json_t *end = json_object_get(event, "end");
    const char *phase = json_string_value(json_object_get(event, "phase"));
    bool ended = false;
    if (end) {
        const char *name = json_string_value(json_object_get(end, "verdict"));
        const char *summary = json_string_value(json_object_get(end, "summary"));
        ended = name && summary && verdict_parse(&out->verdict, name);
        snprintf(out->summary, sizeof out->summary, "%s", summary ? summary : "");
    } else if (phase) {
        enter_phase(child, phase, event);
    } else if (event && !take_last_words(child, event) && listener) {
        listener(context, event);
    }
    json_decref(event);
    return ended;
}

/* Splits what came into lines. True when one of them ended the command. */
static bool take_events(struct host_child *child, const char *bytes, size_t len,
                        host_listener *listener, void *context, struct host_outcome *out)
{
    bool ended = false;
    while (len) {
        const char *stop = memchr(bytes, '\n', len);
        size_t part = stop ? (size_t)(stop - bytes) : len;
        buf_add(&child->line, bytes, part);
        if (stop) {
            if (!child->line.cut)
                ended |= take_line(child, buf_str(&child->line), listener, context, out);
            buf_clear(&child->line);
            child->line.cut = false;
            part++;
        }
        bytes += part;
        len -= part;
    }
    return ended;
}

/* Empties a pipe of free text. False at its end. */
static bool take_text(struct buf *out, int fd)
{
    char block[1 << 16];
    for (int i = 0; i < 16; i++) { /* a flood must not keep the events waiting */
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR;
        if (got == 0)
            return false;
        buf_add(out, block, (size_t)got);
    }
    return true;
}

enum listened { LISTENED_END, LISTENED_DEATH, LISTENED_LATE };

static enum listened listen_to(struct host_child *child, double call_ms, double end_ms,
                               host_listener *listener, void *context, struct host_outcome *out)
{
    struct pollfd fds[3] = {{.fd = child->events, .events = POLLIN},
                            {.fd = child->out, .events = POLLIN},
                            {.fd = child->text, .events = POLLIN}};
    for (;;) {
        double until = child->phase_ms + call_ms < end_ms ? child->phase_ms + call_ms : end_ms;
        if (child->crash_signal && child->crash_ms + ANSWER_MS < until)
            until = child->crash_ms + ANSWER_MS; /* it died, and hangs in its last words */
        double left = until - clock_ms();
        if (left <= 0) {
            child->all_late = until >= end_ms;
            return LISTENED_LATE;
        }
        if (poll(fds, 3, (int)left + 1) < 0 && errno != EINTR)
            return LISTENED_DEATH;
        if (fds[1].revents && !take_text(&child->output, child->out))
            fds[1].fd = -1;
        if (fds[2].revents && !take_text(&child->errors, child->text))
            fds[2].fd = -1;
        if (!fds[0].revents)
            continue;
        char block[1 << 16];
        ssize_t got = read(child->events, block, sizeof block);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return LISTENED_DEATH;
        if (take_events(child, block, (size_t)got, listener, context, out))
            return LISTENED_END;
    }
}

/* ---- the end */

/* Reaps it, waiting a while. False: it is still there. */
static bool reap(struct host_child *child, int *status, double most_ms)
{
    for (double end = clock_ms() + most_ms; clock_ms() < end; poll(NULL, 0, 2)) {
        pid_t got = waitpid(child->pid, status, WNOHANG);
        if (got == child->pid || (got < 0 && errno != EINTR)) {
            child->pid = 0;
            return true;
        }
    }
    return false;
}

/* False: not even that ended it (a driver that hangs); it is left alone. */
static bool kill_it(struct host_child *child, int *status)
{
    kill(child->pid, SIGKILL);
    bool gone = reap(child, status, REAP_MS);
    child->pid = 0;
    return gone;
}

static void close_pipes(struct host_child *child)
{
    int *const fds[] = {&child->commands, &child->events, &child->out, &child->text};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] > 0)
            close(*fds[i]);
        *fds[i] = 0;
    }
}

void host_child_stop(struct host_child *child)
{
    int status;
    if (child->pid)
        kill_it(child, &status);
    if (child->out > 0)
        take_text(&child->output, child->out);
    if (child->text > 0)
        take_text(&child->errors, child->text);
    close_pipes(child);
}

void host_child_free(struct host_child *child)
{
    host_child_stop(child);
    buf_free(&child->line);
    buf_free(&child->output);
    buf_free(&child->errors);
    *child = (struct host_child){0};
}

static void judge_death(struct host_child *child, struct host_outcome *out, bool late)
{
    int status = 0;
    double waited_s = (clock_ms() - child->phase_ms) / 1e3;
    bool all_late = child->all_late;
    late = late && !child->crash_signal;
    if (late) {
        struct host_outcome nothing;
        kill(child->pid, SIGQUIT); /* where are you? */
        child->phase_ms = clock_ms();
        listen_to(child, ANSWER_MS, clock_ms() + ANSWER_MS, NULL, NULL, &nothing);
        child->all_late = all_late;
    }
    out->died = true;
    out->n = child->n;
    bool mute = !late && !reap(child, &status, REAP_MS) && !child->crash_signal; /* it lives */
    bool gone = !child->pid || kill_it(child, &status);
    host_child_stop(child);
    if (!child->touched) {
        out->verdict = VERDICT_CANNOT_RUN;
        snprintf(out->summary, sizeof out->summary, "%s",
                 late ? _("the lab's own solution did not end in time on this machine")
                      : _("the lab's own solution crashed on this machine"));
        return;
    }
    if (mute) {
        char function[80];
        host_death_function(child, function, sizeof function);
        out->verdict = VERDICT_STOPPED_EARLY;
        snprintf(out->summary, sizeof out->summary,
                 _("N = %llu: %s closed files that are not its own, and nothing more was heard"),
                 (unsigned long long)child->n, function);
        return;
    }
    host_death_describe(child, out, status, late, waited_s);
    if (!gone) {
        size_t len = strlen(out->summary);
        snprintf(out->summary + len, sizeof out->summary - len,
                 _("; and it cannot be ended: the driver holds it"));
    }
}

/* ---- commands */

/* The summary says it too: a program whose children are missing may do anything. Behind a pass the
 * speed is to follow, so it stands in brackets there. */
static void add_denied(struct host_child *child, struct host_outcome *out)
{
    size_t len = strlen(out->summary);
    char *to = out->summary + len;
    if (!child->denied || child->denied_told || !len)
        return;
    child->denied_told = true;
    bool passes = out->verdict == VERDICT_PASS;
    if (child->denied_line)
        snprintf(to, sizeof out->summary - len,
                 passes ? _(" (line %u tried to start another process, which is not allowed here)")
                        : _("; line %u tried to start another process, which is not allowed here"),
                 (unsigned)child->denied_line);
    else
        snprintf(to, sizeof out->summary - len, "%s",
                 passes ? _(" (it tried to start another process, which is not allowed here)")
                        : _("; it tried to start another process, which is not allowed here"));
}

static void pump(struct host_child *child, double call_ms, double deadline_ms,
                 host_listener *listener, void *context, struct host_outcome *out)
{
    child->phase_ms = clock_ms();
    enum listened how = listen_to(child, call_ms, clock_ms() + deadline_ms, listener, context, out);
    if (how != LISTENED_END)
        judge_death(child, out, how == LISTENED_LATE);
    add_denied(child, out);
}

bool host_child_wait(struct host_child *child, double deadline_ms, struct err *err)
{
    struct host_outcome outcome = {.verdict = VERDICT_PASS};
    if (child->ready)
        return true;
    if (child->pid)
        pump(child, deadline_ms, deadline_ms, NULL, NULL, &outcome);
    if (child->pid && outcome.verdict == VERDICT_PASS)
        return child->ready = true;
    char words[240] = "";
    host_death_last_words(child, words, sizeof words);
    err_set(err, outcome.died ? _("stride-host did not start%s") : "%s",
            outcome.died ? words : outcome.summary);
    host_child_stop(child);
    return false;
}

void host_child_do(struct host_child *child, json_t *command, double call_ms, double deadline_ms,
                   host_listener *listener, void *context, struct host_outcome *out)
{
    *out = (struct host_outcome){.verdict = VERDICT_CANNOT_RUN};
    char *text = json_dumps(command, JSON_COMPACT);
    struct buf line = {0};
    buf_printf(&line, "%s\n", text ? text : "{}");
    free(text);
    json_decref(command);
    const char *at = buf_str(&line);
    for (size_t left = line.len; left && child->pid;) {
        ssize_t put = write(child->commands, at, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            break; /* it is gone; listening tells how */
        at += put;
        left -= (size_t)put;
    }
    buf_free(&line);
    if (child->pid)
        pump(child, call_ms, deadline_ms, listener, context, out);
    else
        snprintf(out->summary, sizeof out->summary, "%s", _("stride-host is gone"));
}
