/* A tool of the toolkit as a child process: nvdisasm, nvcc, ptxas.
 *
 * A struct process owns the running child; process_finish reaps it and hands its output over. The
 * child stays in the harness's process group, so that whoever kills that group ends it too.
 *
 * Nothing goes through a shell, and nothing that a tool reads or writes can block it
 * or fill the memory.
 */
#ifndef STRIDE_HARNESS_PROCESS_H
#define STRIDE_HARNESS_PROCESS_H

#include "harness/base/buf.h"
#include "harness/base/err.h"

#include <sys/types.h>

enum { PROCESS_OUTPUT_MOST = 32 << 20 };

/* Of addresses, for the tool and each that it starts. */
#define PROCESS_MEMORY_MOST (4ull << 30)

struct process {
    pid_t pid;     /* 0 when nothing runs */
    int out, text; /* anonymous files that take its stdout and stderr */
    double started_ms;
    const char *name; /* argv[0]'s last part, borrowed */
};

struct process_result {
    int status; /* exit status; 128 + signal when it was killed */
    bool timed_out;
    struct buf out, text; /* stdout and stderr, uncleaned, each with .cut when it was too much */
};

/* Starts argv[0] (a path) in `folder` (NULL: here). `input` >= 0 becomes the child's descriptor 4,
 * so that /proc/self/fd/4 names it. A folder other than "/" takes its temporary files as well.
 * `extra` is one "NAME=value" for its environment, or NULL. */
bool process_start(struct process *out, char *const argv[], const char *folder, int input,
                   const char *extra, struct err *err);

/* Waits until it ends or has run for deadline_ms in all; then it is killed. Free the result. */
bool process_finish(struct process *process, struct process_result *out, double deadline_ms,
                    struct err *err);
void process_result_free(struct process_result *result);

/* Kills and forgets a child whose output nobody wants. */
void process_abandon(struct process *process);

/* An anonymous file with these bytes, closed on exec; -1 and err on failure. close() it. */
int process_make_input(const void *bytes, size_t len, struct err *err);

#endif
