/* A harness and the attempt it serves: warm a child, hand it a job, follow it to its end.
 *
 * A runner owns its child, its attempt and a folder for listings below $TMPDIR; runner_free kills
 * and removes all of it. The caller polls the descriptors and calls runner_pump.
 *
 * It never waits, draws nothing and commits nothing. */
#ifndef STRIDE_TUI_RUNNER_H
#define STRIDE_TUI_RUNNER_H

#include "attempt.h"
#include "job.h"

enum runner_state {
    RUNNER_OFF,     /* no child */
    RUNNER_WARMING, /* the child starts up; a job may be handed to it already */
    RUNNER_WARM,    /* it said `ready` and waits for a job */
    RUNNER_RUNNING, /* it has a job */
    RUNNER_OVER,    /* the attempt's record is final; the listings can be taken */
};

struct runner {
    enum runner_state state;
    struct job job;
    struct attempt attempt; /* valid in RUNNING and OVER */
    char *lab;
    char *folder;      /* where the harness puts kernel.ptx and kernel.sass */
    struct buf kernel; /* the very text that was judged */
    enum attempt_death death;
    bool ready, killed, ended;
    int64_t warm_since_ns, ended_ns;
    char trouble[512]; /* why a child died while it warmed; "" for none; uncleaned */
};

/* What differs from the usual; zeroed memory is the usual. */
struct runner_job {
    const char *source;        /* path of the kernel to judge */
    const char *backend;       /* NULL for "auto" */
    const char *const *stages; /* NULL-terminated; NULL for all */
    int64_t seed;              /* 0: the harness chooses */
};

/* The path of stride-harness: $STRIDE_HARNESS, else beside the running program, else ../libexec. */
bool runner_find_harness(char **out, struct err *err);

/* Starts a child for the lab. Needs state OFF. */
bool runner_warm(struct runner *runner, const char *root, const char *lab, struct err *err);

/* Whether the kernel can be read at all, to be asked before a child is started for it. */
bool runner_can_read(const struct runner_job *job, struct err *err);

/* Hands over the job: reads the kernel, snapshots it and sends. Needs WARMING or WARM. */
bool runner_begin(struct runner *runner, const struct runner_job *job, struct err *err);

int runner_poll_fds(const struct runner *runner, struct pollfd fds[JOB_FDS]);

/* Milliseconds until runner_pump wants to be called even if nothing is readable; -1 for never. */
int runner_timeout_ms(const struct runner *runner, int64_t now_ns);

/* Reads what there is, keeps deadlines. True when something visible changed. */
bool runner_pump(struct runner *runner, int64_t now_ns);

/* The student's stop: kills the child; the attempt becomes OVER soon, as stopped-early. */
void runner_stop(struct runner *runner, int64_t now_ns);

/* In OVER: reads the listings that were made; false for one that was not. */
bool runner_take_listing(struct runner *runner, const char *name, struct buf *out);

/* Kills, reaps and forgets. The runner is OFF afterwards. */
void runner_free(struct runner *runner);

#endif
