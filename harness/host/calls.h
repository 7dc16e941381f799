/* What the student's code asked of the CUDA runtime, call by call: the first failure with its line,
 * what blocked the host, what was created and not given back.
 *
 * The log is the process's own; api.c writes it from any thread, trial.c reads it between phases.
 * Sites are return addresses in the student's object; lines.h turns them into lines.
 *
 * It changes nothing about a call. */
#ifndef STRIDE_HOST_CALLS_H
#define STRIDE_HOST_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum api {
#define X(type, name, parameters, arguments) API_##name,
#include "api.def"
#undef X
    API_COUNT
};

struct failed_call {
    enum api api;
    int result;       /* cudaError_t */
    const void *site; /* where it was called from */
    bool capturing;   /* a stream was being captured */
    char detail[240]; /* what exactly was wrong, from the simulated runtime; "" when unknown */
};

enum resource_kind {
    RESOURCE_DEVICE_MEMORY,
    RESOURCE_PINNED_MEMORY,
    RESOURCE_STREAM,
    RESOURCE_EVENT,
    RESOURCE_GRAPH,
    RESOURCE_GRAPH_EXEC,
    RESOURCE_KINDS
};

struct live_resource {
    enum resource_kind kind;
    const void *handle, *site; /* who created it */
};

/* One call on its way, kept by api.c's wrapper. */
struct call {
    enum api api;
    const void *site, *outer; /* outer: the site of the call in which a host function runs this */
};

/* Around each call of the student's: begins it. `site` is its return address. */
void calls_enter(struct call *call, enum api api, const void *site);

/* Ends it: notes the result and returns it. `there`: the runtime in use has this function. Behind
 * result come the call's own arguments. */
int calls_leave(struct call *call, bool there, int result, ...);

/* Where the call that this thread is in came from; for <<<>>> the line of the launch, not nvcc's
 * stub. NULL outside. */
const void *calls_site(void);

/* Does the call that this thread is in mean the thread's own stream when it says 0? */
bool calls_per_thread(void);

/* Says what is wrong with the call in progress, for `detail`. */
void calls_explain(const char *text);

void calls_reset(void); /* forgets failures and counts; what is alive stays known */
bool calls_first_failure(struct failed_call *out);
unsigned calls_count(enum api api);
unsigned calls_blocking(void);         /* calls that made the host wait for the device */
const void *calls_blocking_site(void); /* of the first of them */
const char *calls_missing(void); /* first function called that the runtime in use lacks; NULL */
const void *calls_open_capture(void); /* where a capture was begun that is not ended; NULL */
/* What was created and not given back, at most that many; returns how many there are in all. */
size_t calls_live(struct live_resource *out, size_t most);

const char *api_name(enum api api);   /* "cudaMalloc"; static */
const char *api_spoken(enum api api); /* as students know it: cudaLaunchKernel for nvcc's own, and
                                       * without _ptsz; static */
bool api_is_twin(enum api api);       /* _ptds, _ptsz: its default stream is the thread's own */

/* What a cudaError_t is called and means, in the student's language; static. */
const char *cuda_error_name(int result);
const char *cuda_error_meaning(int result);
const char *cuda_error_text(int result); /* what cudaGetErrorString says; English */

#endif
