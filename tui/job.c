/* How to read: job_start makes the child; job_pump is called whenever something may have happened
 * and moves the state along RUNNING → KILLED → OVER. An exited child is first looked at without
 * reaping it (WNOWAIT): as long as it is a zombie nobody else can get its process group's number,
 * so that killing the group can't hit a stranger. */
#include "job.h"

#include "harness/base/msg.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TEXT_CAP = 1 << 20,
    LINE_CAP = 4 << 20,
    RECORDS_CAP = 64 << 20,
    PUMP_BYTES =
        1 << 20, /* at most read from one pipe per pump, so that a flood can't freeze the caller */
};

#define MS_NS INT64_C(1000000)
#define PIPE_GRACE_NS                                                                              \
    (300 * MS_NS) /* from the child's exit until pipes that others hold are given up */
#define KILL_GRACE_NS (300 * MS_NS)  /* from the kill until pipes are given up */
#define REAP_GRACE_NS (3000 * MS_NS) /* from the kill until a child that can't die is given up */

int64_t job_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A descriptor that is none of 0..3, which the child's are moved onto. */
static void lift(int *fd)
{
    if (*fd >= 0 && *fd < 4) {
        int high = fcntl(*fd, F_DUPFD_CLOEXEC, 4);
        close(*fd);
        *fd = high;
    }
}

static void make_token(char token[40])
{
    unsigned char bytes[12];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        memset(bytes, 0, sizeof bytes);
    int at = snprintf(token, 40, "%ld.", (long)getpid());
    for (size_t i = 0; i < sizeof bytes && at < 37; i++)
        at += snprintf(token + at, (size_t)(40 - at), "%02x", bytes[i]);
}

/* The environment plus the token; the array is the caller's, the strings are borrowed. */
static char **environment_with(char *token_entry)
{
    size_t count = 0;
    while (environ && environ[count])
        count++;
    char **env = mem_zero(count + 2, sizeof *env);
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "STRIDE_JOB=", 11) != 0)
            env[at++] = environ[i];
    env[at] = token_entry;
    return env;
}

/* Between fork and exec only async-signal-safe calls. */
static _Noreturn void child_main(char *const argv[], char **env, const char *folder, pid_t parent,
                                 int in, int records, int text, int failure)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(in, 0) < 0 || dup2(text, 1) < 0 || dup2(text, 2) < 0 || dup2(records, 3) < 0)
        goto fail;
    /* Everything else closes on exec, also what some library opened without O_CLOEXEC. */
    for (int fd = 4; fd < 256; fd++)
        if (fd != failure)
            close(fd);
    if (folder && chdir(folder) != 0)
        goto fail;
    execve(argv[0], argv, env);
fail:;
    int reason = errno;
    (void)!write(failure, &reason, sizeof reason);
    _exit(127);
}

static bool open_pipes(int in[2], int records[2], int text[2], int failure[2], struct err *err)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0 ||
        pipe2(records, O_CLOEXEC) != 0 || pipe2(text, O_CLOEXEC) != 0 ||
        pipe2(failure, O_CLOEXEC) != 0)
        return err_set(err, _("cannot make a pipe for a child process: %s"), strerror(errno));
    int *all[] = {&in[0],   &in[1],   &records[0], &records[1],
                  &text[0], &text[1], &failure[0], &failure[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lift(all[i]);
        if (*all[i] < 0)
            return err_set(err, _("cannot make a pipe for a child process: %s"), strerror(errno));
    }
    return true;
}

bool job_start(struct job *job, char *const argv[], const char *folder, struct err *err)
{
    *job = (struct job){.in = -1, .records = -1, .text = -1};
    job->text_bytes.cap = TEXT_CAP;
    job->record_bytes.cap = LINE_CAP;
    int in[2] = {-1, -1}, records[2] = {-1, -1}, text[2] = {-1, -1}, failure[2] = {-1, -1};
    make_token(job->token);
    char *entry = mem_printf("STRIDE_JOB=%s", job->token);
    char **env = environment_with(entry);
    bool ok = open_pipes(in, records, text, failure, err);
    if (ok) {
        pid_t parent = getpid();
        job->pid = fork();
        if (job->pid == 0)
            child_main(argv, env, folder, parent, in[0], records[1], text[1], failure[1]);
        if (job->pid < 0)
            ok = err_set(err, _("cannot start %s: %s"), argv[0], strerror(errno));
    }
    free(env);
    free(entry);
    close_fd(&in[0]);
    close_fd(&records[1]);
    close_fd(&text[1]);
    close_fd(&failure[1]);
    if (ok) {
        int reason = 0;
        ssize_t got;
        while ((got = read(failure[0], &reason, sizeof reason)) < 0 && errno == EINTR)
            continue;
        if (got == (ssize_t)sizeof reason) {
            while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
            ok = err_set(err, _("cannot start %s: %s"), argv[0], strerror(reason));
        }
    }
    close_fd(&failure[0]);
    if (!ok) {
        close_fd(&in[1]);
        close_fd(&records[0]);
        close_fd(&text[0]);
        return false;
    }
    job->in = in[1];
    job->records = records[0];
    job->text = text[0];
    fcntl(job->records, F_SETFL, O_NONBLOCK);
    fcntl(job->text, F_SETFL, O_NONBLOCK);
    job->state = JOB_RUNNING;
    job->started_ns = job_clock_ns();
    return true;
}

bool job_send(struct job *job, const char *line, struct err *err)
{
    struct buf bytes = {0};
    buf_printf(&bytes, "%s\n", line);
    bool ok = job->in >= 0;
    if (!ok)
        err_set(err, _("the child process takes no job any more"));
    /* One send: a job line is far smaller than a socket's buffer, so a partial one means trouble.
     */
    ssize_t put = ok ? send(job->in, bytes.data, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    if (ok && put != (ssize_t)bytes.len)
        ok = err_set(err, _("cannot hand the job to the child process: %s"),
                     put < 0 ? strerror(errno) : _("it reads too little"));
    buf_free(&bytes);
    return ok;
}

int job_poll_fds(const struct job *job, struct pollfd fds[JOB_FDS])
{
    int count = 0;
    if (job->state != JOB_RUNNING && job->state != JOB_KILLED)
        return 0;
    if (job->records >= 0)
        fds[count++] = (struct pollfd){.fd = job->records, .events = POLLIN};
    if (job->text >= 0)
        fds[count++] = (struct pollfd){.fd = job->text, .events = POLLIN};
    return count;
}

int job_timeout_ms(const struct job *job, int64_t now_ns)
{
    if (job->state != JOB_RUNNING && job->state != JOB_KILLED)
        return -1;
    /* While pipes are open their end wakes the caller; afterwards only looking tells. */
    if (job->state == JOB_KILLED || job->exited_ns || (job->records < 0 && job->text < 0))
        return 10;
    (void)now_ns;
    return 1000; /* a child may exit while a descendant holds its pipes */
}

/* Takes complete lines out of record_bytes. */
static void give_lines(struct job *job, job_line_fn *on_line, void *context)
{
    size_t start = 0;
    for (;;) {
        char *line = job->record_bytes.data + start;
        char *end = job->record_bytes.len > start
                        ? memchr(line, '\n', job->record_bytes.len - start)
                        : NULL;
        if (!end)
            break;
        *end = '\0';
        if (on_line)
            on_line(context, line, (size_t)(end - line));
        start += (size_t)(end - line) + 1;
    }
    if (start) {
        memmove(job->record_bytes.data, job->record_bytes.data + start,
                job->record_bytes.len - start);
        job->record_bytes.len -= start;
    }
}

static void read_records(struct job *job, job_line_fn *on_line, void *context)
{
    char block[65536];
    for (size_t total = 0; job->records >= 0 && total < PUMP_BYTES;) {
        ssize_t got = read(job->records, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            close_fd(&job->records);
            return;
        }
        total += (size_t)got;
        job->record_total += (size_t)got;
        if (job->record_total > RECORDS_CAP)
            job->flooded = true;
        if (job->flooded)
            continue; /* drained, so that the child's end is seen, and not kept */
        buf_add(&job->record_bytes, block, (size_t)got);
        if (job->record_bytes.cut)
            job->flooded = true;
        else
            give_lines(job, on_line, context);
    }
}

static void read_text(struct job *job)
{
    char block[65536];
    for (size_t total = 0; job->text >= 0 && total < PUMP_BYTES;) {
        ssize_t got = read(job->text, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            close_fd(&job->text);
            return;
        }
        total += (size_t)got;
        buf_add(&job->text_bytes, block, (size_t)got);
    }
}

static bool environ_has(pid_t pid, const char *entry)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    struct buf env = {.cap = 1 << 20};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char block[8192];
    ssize_t got;
    while (fd >= 0 && (got = read(fd, block, sizeof block)) > 0)
        buf_add(&env, block, (size_t)got);
    close_fd(&fd);
    bool found = env.len && memmem(env.data, env.len, entry, strlen(entry) + 1) != NULL;
    buf_free(&env);
    return found;
}

/* Descendants that left the group, by setsid or otherwise, still carry the token. A few rounds,
 * since they may be forking while we look. */
static void kill_descendants(const struct job *job)
{
    char entry[64];
    snprintf(entry, sizeof entry, "STRIDE_JOB=%s", job->token);
    for (int round = 0; round < 20; round++) {
        DIR *proc = opendir("/proc");
        bool any = false;
        for (struct dirent *found; proc && (found = readdir(proc));) {
            pid_t pid = (pid_t)atol(found->d_name);
            if (pid <= 1 || pid == getpid() || pid == job->pid || !environ_has(pid, entry))
                continue;
            if (kill(pid, SIGKILL) == 0)
                any = true;
        }
        if (proc)
            closedir(proc);
        if (!any)
            return;
    }
}

static void kill_group(struct job *job)
{
    if (!job->reaped) /* until then the group's number is ours */
        kill(-job->pid, SIGKILL);
}

void job_kill(struct job *job, int64_t now_ns)
{
    if (job->state != JOB_RUNNING)
        return;
    kill_group(job);
    kill_descendants(job);
    job->state = JOB_KILLED;
    job->killed_ns = now_ns;
}

static void look_for_exit(struct job *job, int64_t now_ns)
{
    siginfo_t info = {0};
    if (job->exited_ns || waitid(P_PID, (id_t)job->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != job->pid)
        return;
    job->exited_ns = now_ns;
}

static void finish(struct job *job)
{
    close_fd(&job->in);
    close_fd(&job->records);
    close_fd(&job->text);
    job->state = JOB_OVER;
}

void job_pump(struct job *job, int64_t now_ns, job_line_fn *on_line, void *context)
{
    if (job->state != JOB_RUNNING && job->state != JOB_KILLED)
        return;
    look_for_exit(job, now_ns); /* before reading, so that all it wrote is there to be read */
    read_records(job, on_line, context);
    read_text(job);
    bool drained = job->records < 0 && job->text < 0;
    if (job->exited_ns && !job->reaped) {
        bool waited = now_ns - job->exited_ns >= PIPE_GRACE_NS ||
                      (job->state == JOB_KILLED && now_ns - job->killed_ns >= KILL_GRACE_NS);
        if (!drained && !waited)
            return;
        kill_group(job);
        if (!drained)
            kill_descendants(job);
        job->reaped = waitpid(job->pid, &job->status, 0) == job->pid;
        finish(job);
    } else if (job->state == JOB_KILLED && now_ns - job->killed_ns >= REAP_GRACE_NS) {
        job->unkillable = true;
        finish(job);
    }
}

void job_free(struct job *job)
{
    if (job->state == JOB_RUNNING || job->state == JOB_KILLED) {
        job_kill(job, 0);
        /* SIGKILL takes effect at once unless the kernel holds the child; then it is left to init.
         */
        for (int i = 0; i < 50 && !job->reaped; i++) {
            job->reaped = waitpid(job->pid, &job->status, WNOHANG) != 0;
            if (!job->reaped)
                nanosleep(&(struct timespec){.tv_nsec = 2 * MS_NS}, NULL);
        }
    }
    if (job->state != JOB_NONE) /* in zeroed memory the descriptors are no descriptors */
        finish(job);
    buf_free(&job->record_bytes);
    buf_free(&job->text_bytes);
    *job = (struct job){.in = -1, .records = -1, .text = -1};
}
