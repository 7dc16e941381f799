/* stride-host as a child: started ahead, given commands, listened to, and judged by how it ended.
 *
 * A struct host_child owns the process and its pipes. JSON that a listener gets is borrowed. Text
 * that the student's code wrote is kept up to a limit; beyond it the pipes are emptied and nothing
 * is stored.
 *
 * It never believes a child that died: without the `end` of a command, what counts is the death. */
#ifndef STRIDE_HARNESS_HOST_CHILD_H
#define STRIDE_HARNESS_HOST_CHILD_H

#include "harness/base/buf.h"
#include "harness/base/err.h"
#include "harness/base/verdict.h"

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

struct host_child_options {
    const char *root, *lab;
    const char *entry;  /* "streamsRun", for sentences */
    const char *cudart; /* NULL: the simulated runtime */
    const char *cupti;  /* or NULL */
    uint64_t seed;
    int device;
};

struct host_child {
    pid_t pid; /* 0 when none runs */
    int commands, events, out, text;
    struct buf line, output, errors;
    char entry[64];
    /* What the child said last: where it was, and how it went there. */
    char phase[16];
    uint64_t n;
    unsigned round;
    double phase_ms, crash_ms;
    bool touched;   /* the student's code has run in it */
    char nonce[24]; /* opens each line that stride-host itself wrote */
    int crash_signal, line_no, denied_line;
    bool denied, denied_told;           /* it tried to start a process */
    bool touched_device, touched_stack; /* what a segmentation fault was about */
    bool left_function;                 /* a host function was left without returning */
    bool ready, all_late;               /* not one call took too long, but all together did */
};

struct host_outcome {
    enum verdict verdict;
    char summary[1000];
    bool died; /* crashed, stopped or was killed: the sentence tells where; `n` the size */
    uint64_t n;
};

/* Hears every line but phases and ends: {"add":..}, {"metrics":..}, {"unknown":..}. */
typedef void host_listener(void *context, const json_t *event);

/* Starts a stride-host with these options and does not wait for it: host_child_wait does. False: it
 * cannot be started. */
bool host_child_start(struct host_child *out, const struct host_child_options *options,
                      struct err *err);

/* Waits until the runtime is open. False: err says why it is not; the child is closed then. */
bool host_child_wait(struct host_child *child, double deadline_ms, struct err *err);

/* Hands over one command (taken over) and listens until it ended, the child died, a call of the
 * student's took longer than call_ms, or all together longer than deadline_ms. */
void host_child_do(struct host_child *child, json_t *command, double call_ms, double deadline_ms,
                   host_listener *listener, void *context, struct host_outcome *out);

/* Ends it; output and errors stay readable until the struct is started again or freed. */
void host_child_stop(struct host_child *child);
void host_child_free(struct host_child *child);

#endif
