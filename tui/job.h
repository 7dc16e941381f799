/* A child process and what comes out of it: stride-harness, or the editor.
 *
 * A job owns its process group, its pipes and the captured output; the caller owns the struct. It
 * is driven from outside: poll the descriptors, call job_pump when one is readable or time has
 * passed. It is over when the child is reaped and both pipes are at end of file, or when it was
 * killed and the grace time is over (a grandchild may hold a pipe forever).
 *
 * It never goes through a shell, never blocks, and knows nothing of what the lines mean. */
#ifndef STRIDE_TUI_JOB_H
#define STRIDE_TUI_JOB_H

#include "harness/base/buf.h"
#include "harness/base/err.h"

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

enum { JOB_FDS = 3 };

enum job_state { JOB_NONE, JOB_RUNNING, JOB_KILLED, JOB_OVER };

struct job {
    enum job_state state;
    pid_t pid;
    int status; /* waitpid's, once reaped */
    bool reaped;
    int in, records,
        text; /* our ends: its stdin, its descriptor 3, its stdout and stderr; -1 closed */
    struct buf record_bytes; /* incomplete last line */
    struct buf text_bytes;   /* captured, capped at 1 MiB, uncleaned */
    int64_t started_ns, killed_ns;
    bool flooded;        /* records without end: a line over 4 MiB or 64 MiB in all */
    bool unkillable;     /* over, but the kernel has not given the child up (device driver, NFS) */
    size_t record_total; /* bytes read from descriptor 3 */
    int64_t exited_ns;   /* when it was seen to have exited; 0 before */
    char token[40];      /* in its environment, so that all its descendants are found */
};

/* A complete record line, without '\n', NUL-terminated. */
typedef void job_line_fn(void *context, const char *line, size_t len);

/* Starts argv (argv[0] a path) in a session of its own, in `folder` (NULL: here), signals at their
 * defaults. False when it could not be executed: err has the reason. */
bool job_start(struct job *job, char *const argv[], const char *folder, struct err *err);

/* One line to its stdin; the newline is added. */
bool job_send(struct job *job, const char *line, struct err *err);

/* Fills what to poll and returns how many. */
int job_poll_fds(const struct job *job, struct pollfd fds[JOB_FDS]);

/* Milliseconds after which job_pump is wanted even if nothing is readable; -1 for never. */
int job_timeout_ms(const struct job *job, int64_t now_ns);

/* Reads a bounded amount, reaps, and moves the state on. on_line may be NULL. */
void job_pump(struct job *job, int64_t now_ns, job_line_fn *on_line, void *context);

/* SIGKILL to the whole group and to every descendant that can be found elsewhere. */
void job_kill(struct job *job, int64_t now_ns);

/* Kills what still runs and gives everything back. Zeroed memory may be freed too. */
void job_free(struct job *job);

int64_t job_clock_ns(void); /* CLOCK_MONOTONIC */

#endif
