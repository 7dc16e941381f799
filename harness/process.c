#include "process.h"

#include "emit.h"

#include "harness/base/clock.h"
#include "harness/base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Variables that would steer the tools from outside. NVCC_CCBIN stays: with it a student chooses
 * the host compiler. */
static bool steers_tools(const char *entry)
{
    static const char *const names[] = {"NVCC_APPEND_FLAGS=",
                                        "NVCC_PREPEND_FLAGS=",
                                        "NVDISASM_PATH=",
                                        "LD_PRELOAD=",
                                        "CPATH=",
                                        "C_INCLUDE_PATH=",
                                        "CPLUS_INCLUDE_PATH=",
                                        "LD_RUN_PATH=",
                                        "DEPENDENCIES_OUTPUT=",
                                        "SUNPRO_DEPENDENCIES="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static char **make_environment(const char *extra, bool own_folder)
{
    static char here[] = "TMPDIR=.";
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **list = mem_zero(count + 3, sizeof *list);
    size_t name = extra ? strcspn(extra, "=") + 1 : 0;
    for (size_t i = 0; i < count; i++)
        if (!steers_tools(environ[i]) && !(own_folder && strncmp(environ[i], here, 7) == 0) &&
            !(extra && strncmp(environ[i], extra, name) == 0))
            list[kept++] = environ[i];
    if (own_folder)
        list[kept++] = here;
    if (extra)
        list[kept] = (char *)(uintptr_t)extra;
    return list;
}

static int spawn_child(pid_t *pid, char *const argv[], const char *folder, int input, int out,
                       int text, char **environment)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, text, 2);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&actions, input, 4);
    if (folder)
        posix_spawn_file_actions_addchdir_np(&actions, folder);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn(pid, argv[0], &actions, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Away from 0..4, which spawn_child overwrites one after the other. */
static int anonymous_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    int high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 10) : -1;
    if (fd >= 0)
        close(fd);
    return high;
}

bool process_start(struct process *out, char *const argv[], const char *folder, int input,
                   const char *extra, struct err *err)
{
    const char *slash = strrchr(argv[0], '/');
    *out = (struct process){.name = slash ? slash + 1 : argv[0], .started_ms = clock_ms()};
    out->out = anonymous_file("out");
    out->text = anonymous_file("text");
    if (out->out < 0 || out->text < 0) {
        err_set(err, _("cannot start %s: no memory for its output: %s"), argv[0], strerror(errno));
        process_abandon(out);
        return false;
    }
    char **environment = make_environment(extra, folder && strcmp(folder, "/") != 0);
    int failed = spawn_child(&out->pid, argv, folder, input, out->out, out->text, environment);
    free(environment);
    if (failed) {
        out->pid = 0;
        process_abandon(out);
        return err_set(err, _("cannot start %s: %s"), argv[0], strerror(failed));
    }
    /* A tool that writes without end, or takes all memory, is stopped by the system, not by us. */
    struct rlimit most = {PROCESS_OUTPUT_MOST + 4096, PROCESS_OUTPUT_MOST + 4096};
    struct rlimit memory = {PROCESS_MEMORY_MOST, PROCESS_MEMORY_MOST};
    prlimit(out->pid, RLIMIT_FSIZE, &most, NULL);
    prlimit(out->pid, RLIMIT_AS, &memory, NULL);
    return true;
}

static void read_all(struct buf *out, int fd)
{
    char block[65536];
    out->cap = PROCESS_OUTPUT_MOST;
    lseek(fd, 0, SEEK_SET);
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || out->cut)
            break;
        buf_add(out, block, (size_t)got);
    }
}

/* Waits for the end through a pidfd where the kernel has them, else by looking every few ms. */
static bool wait_until(pid_t pid, double end_ms, int *status)
{
    int watch = (int)syscall(SYS_pidfd_open, pid, 0);
    bool ended = false;
    for (;;) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid) {
            ended = true;
            break;
        }
        double left = end_ms - clock_ms();
        if ((got < 0 && errno != EINTR) || left <= 0)
            break;
        struct pollfd poll_fd = {.fd = watch, .events = POLLIN};
        poll(&poll_fd, 1, watch >= 0 || left < 5 ? (int)left + 1 : 5);
    }
    if (watch >= 0)
        close(watch);
    return ended;
}

bool process_finish(struct process *process, struct process_result *out, double deadline_ms,
                    struct err *err)
{
    *out = (struct process_result){0};
    if (!process->pid)
        return err_set(err, _("no tool is running"));
    int status = 0;
    if (!wait_until(process->pid, process->started_ms + deadline_ms, &status)) {
        out->timed_out = true;
        kill(process->pid, SIGKILL);
        while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    process->pid = 0;
    out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    read_all(&out->out, process->out);
    read_all(&out->text, process->text);
    process_abandon(process);
    return true;
}

void process_abandon(struct process *process)
{
    if (process->pid) {
        kill(process->pid, SIGKILL);
        while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (process->out > 0)
        close(process->out);
    if (process->text > 0)
        close(process->text);
    *process = (struct process){0};
}

void process_result_free(struct process_result *result)
{
    buf_free(&result->out);
    buf_free(&result->text);
}

int process_make_input(const void *bytes, size_t len, struct err *err)
{
    int fd = anonymous_file("input");
    const char *at = bytes;
    while (fd >= 0 && len) {
        ssize_t put = write(fd, at, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            close(fd);
            fd = -1;
            break;
        }
        at += put;
        len -= (size_t)put;
    }
    if (fd < 0)
        err_set(err, _("no memory to hand %zu bytes to a tool: %s"), len, strerror(errno));
    return fd;
}
