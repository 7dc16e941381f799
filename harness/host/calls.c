#include "calls.h"

#include "cupti.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_READY = 600 };

/* ---- what is known of functions */

/* Who makes and who ends what; `argument` holds the handle, behind a pointer when it is made. */
struct lifetime {
    enum api api;
    enum resource_kind kind;
    unsigned argument;
    enum { MAKES, ADOPTS, ENDS } does; /* ADOPTS: the handle is the argument itself */
};

static const struct lifetime lifetimes[] = {
    {API_cudaMalloc, RESOURCE_DEVICE_MEMORY, 0, MAKES},
    {API_cudaMallocPitch, RESOURCE_DEVICE_MEMORY, 0, MAKES},
    {API_cudaMallocManaged, RESOURCE_DEVICE_MEMORY, 0, MAKES},
    {API_cudaMallocAsync, RESOURCE_DEVICE_MEMORY, 0, MAKES},
    {API_cudaMallocAsync_ptsz, RESOURCE_DEVICE_MEMORY, 0, MAKES},
    {API_cudaMallocFromPoolAsync, RESOURCE_DEVICE_MEMORY, 0, MAKES},
    {API_cudaMallocFromPoolAsync_ptsz, RESOURCE_DEVICE_MEMORY, 0, MAKES},
    {API_cudaFree, RESOURCE_DEVICE_MEMORY, 0, ENDS},
    {API_cudaFreeAsync, RESOURCE_DEVICE_MEMORY, 0, ENDS},
    {API_cudaFreeAsync_ptsz, RESOURCE_DEVICE_MEMORY, 0, ENDS},
    {API_cudaMallocHost, RESOURCE_PINNED_MEMORY, 0, MAKES},
    {API_cudaHostAlloc, RESOURCE_PINNED_MEMORY, 0, MAKES},
    {API_cudaFreeHost, RESOURCE_PINNED_MEMORY, 0, ENDS},
    {API_cudaHostRegister, RESOURCE_PINNED_MEMORY, 0, ADOPTS},
    {API_cudaHostUnregister, RESOURCE_PINNED_MEMORY, 0, ENDS},
    {API_cudaStreamCreate, RESOURCE_STREAM, 0, MAKES},
    {API_cudaStreamCreateWithFlags, RESOURCE_STREAM, 0, MAKES},
    {API_cudaStreamCreateWithPriority, RESOURCE_STREAM, 0, MAKES},
    {API_cudaStreamDestroy, RESOURCE_STREAM, 0, ENDS},
    {API_cudaEventCreate, RESOURCE_EVENT, 0, MAKES},
    {API_cudaEventCreateWithFlags, RESOURCE_EVENT, 0, MAKES},
    {API_cudaEventDestroy, RESOURCE_EVENT, 0, ENDS},
    {API_cudaGraphCreate, RESOURCE_GRAPH, 0, MAKES},
    {API_cudaGraphClone, RESOURCE_GRAPH, 0, MAKES},
    {API_cudaStreamEndCapture, RESOURCE_GRAPH, 1, MAKES},
    {API_cudaStreamEndCapture_ptsz, RESOURCE_GRAPH, 1, MAKES},
    {API_cudaGraphDestroy, RESOURCE_GRAPH, 0, ENDS},
    {API_cudaGraphInstantiate, RESOURCE_GRAPH_EXEC, 0, MAKES},
    {API_cudaGraphInstantiateWithFlags, RESOURCE_GRAPH_EXEC, 0, MAKES},
    {API_cudaGraphInstantiateWithParams, RESOURCE_GRAPH_EXEC, 0, MAKES},
    {API_cudaGraphInstantiateWithParams_ptsz, RESOURCE_GRAPH_EXEC, 0, MAKES},
    {API_cudaGraphExecDestroy, RESOURCE_GRAPH_EXEC, 0, ENDS},
};

static bool blocks(enum api api)
{
    switch (api) {
    case API_cudaDeviceSynchronize:
    case API_cudaStreamSynchronize:
    case API_cudaStreamSynchronize_ptsz:
    case API_cudaEventSynchronize:
    case API_cudaMemcpy:
    case API_cudaMemcpy_ptds:
    case API_cudaMemcpy2D:
    case API_cudaMemcpy2D_ptds:
    case API_cudaMemcpy3D:
    case API_cudaMemcpy3D_ptds:
    case API_cudaMemcpyToSymbol:
    case API_cudaMemcpyToSymbol_ptds:
    case API_cudaMemcpyFromSymbol:
    case API_cudaMemcpyFromSymbol_ptds:
    case API_cudaMemcpyPeer:
    case API_cudaFree:
    case API_cudaFreeHost:
    case API_cudaHostUnregister:
    case API_cudaDeviceReset:
        return true;
    default:
        return false;
    }
}

static bool is_query(enum api api)
{
    return api == API_cudaStreamQuery || api == API_cudaStreamQuery_ptsz ||
           api == API_cudaEventQuery;
}

static bool is_launch(enum api api)
{
    return api == API_cudaLaunchKernel || api == API_cudaLaunchKernel_ptsz ||
           api == API___cudaLaunchKernel || api == API___cudaLaunchKernel_ptsz;
}

/* These hand out an error that another call had. */
static bool repeats_errors(enum api api)
{
    return api == API_cudaGetLastError || api == API_cudaPeekAtLastError;
}

/* ---- the log */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct failed_call first;
    bool failed;
    unsigned counts[API_COUNT];
    unsigned blocking;
    const void *blocking_site;
    unsigned capturing;
    const void *capture_site; /* of the first of them */
    const char *missing;
    struct live_resource *live;
    size_t live_count, live_capacity;
} calls;

static _Thread_local const void *site_now;
static _Thread_local bool per_thread;
static _Thread_local const void *configured; /* site of a <<<>>> whose launch is to come */
static _Thread_local bool was_not_ready;
static _Thread_local char detail[240];

void calls_explain(const char *text)
{
    snprintf(detail, sizeof detail, "%s", text);
}

const void *calls_site(void)
{
    return site_now;
}

bool calls_per_thread(void)
{
    return per_thread;
}

void calls_enter(struct call *call, enum api api, const void *site)
{
    if (api == API___cudaPushCallConfiguration)
        configured = site;
    else if (is_launch(api) && configured) {
        site = configured;
        configured = NULL;
    }
    *call = (struct call){.api = api, .site = site, .outer = site_now};
    site_now = site;
    *detail = '\0';
    cupti_enter(site);
    per_thread = api_is_twin(api);
}

static void add_live(enum resource_kind kind, const void *handle, const void *site)
{
    if (!handle)
        return;
    if (calls.live_count == calls.live_capacity) {
        calls.live_capacity = calls.live_capacity ? calls.live_capacity * 2 : 64;
        calls.live = mem_grow(calls.live, calls.live_capacity, sizeof *calls.live);
    }
    calls.live[calls.live_count++] = (struct live_resource){kind, handle, site};
}

static void remove_live(enum resource_kind kind, const void *handle)
{
    for (size_t i = calls.live_count; i-- > 0;) {
        if (calls.live[i].kind != kind || calls.live[i].handle != handle)
            continue;
        calls.live_count--;
        memmove(&calls.live[i], &calls.live[i + 1], (calls.live_count - i) * sizeof calls.live[0]);
        return;
    }
}

static void note_lifetime(const struct call *call, void *const arguments[2])
{
    for (size_t i = 0; i < sizeof lifetimes / sizeof lifetimes[0]; i++) {
        const struct lifetime *life = &lifetimes[i];
        if (life->api != call->api)
            continue;
        void *argument = arguments[life->argument];
        if (life->does == MAKES && argument)
            add_live(life->kind, *(void **)argument, call->site);
        else if (life->does == ADOPTS)
            add_live(life->kind, argument, call->site);
        else if (life->does == ENDS)
            remove_live(life->kind, argument);
    }
}

static bool tracks_lifetime(enum api api)
{
    for (size_t i = 0; i < sizeof lifetimes / sizeof lifetimes[0]; i++)
        if (lifetimes[i].api == api)
            return true;
    return false;
}

static void note_capture(const struct call *call, int result)
{
    switch (call->api) {
    case API_cudaStreamBeginCapture:
    case API_cudaStreamBeginCapture_ptsz:
    case API_cudaStreamBeginCaptureToGraph:
    case API_cudaStreamBeginCaptureToGraph_ptsz:
        if (result == 0 && !calls.capturing++)
            calls.capture_site = call->site;
        return;
    case API_cudaStreamEndCapture:
    case API_cudaStreamEndCapture_ptsz:
        calls.capturing -= calls.capturing > 0;
        return;
    default:
        return;
    }
}

static void note_blocking(const struct call *call, int result)
{
    bool waited = blocks(call->api);
    if (is_query(call->api)) { /* asking until it is ready is waiting, too */
        waited = result == 0 && was_not_ready;
        was_not_ready = result == NOT_READY;
    }
    if (!waited || result)
        return;
    if (!calls.blocking++)
        calls.blocking_site = call->site;
}

static void note_failure(const struct call *call, int result)
{
    bool fine =
        !result || repeats_errors(call->api) || (result == NOT_READY && is_query(call->api));
    if (fine || calls.failed)
        return;
    calls.failed = true;
    calls.first = (struct failed_call){
        .api = call->api, .result = result, .site = call->site, .capturing = calls.capturing > 0};
    snprintf(calls.first.detail, sizeof calls.first.detail, "%s", detail);
}

int calls_leave(struct call *call, bool there, int result, ...)
{
    void *arguments[2] = {NULL, NULL};
    cupti_leave();
    bool lifetime = !result && tracks_lifetime(call->api);
    if (lifetime) {
        va_list list;
        va_start(list, result);
        arguments[0] = va_arg(list, void *);
        if (call->api == API_cudaStreamEndCapture || call->api == API_cudaStreamEndCapture_ptsz)
            arguments[1] = va_arg(list, void *);
        va_end(list);
    }
    pthread_mutex_lock(&lock);
    calls.counts[call->api]++;
    if (!there && !calls.missing)
        calls.missing = api_name(call->api);
    if (lifetime)
        note_lifetime(call, arguments);
    if (call->api == API_cudaDeviceReset && !result)
        calls.live_count = 0;
    note_failure(call, result);
    note_capture(call, result);
    note_blocking(call, result);
    pthread_mutex_unlock(&lock);
    site_now = call->outer;
    return result;
}

/* ---- reading it */

void calls_reset(void)
{
    pthread_mutex_lock(&lock);
    calls.failed = false;
    calls.capturing = 0;
    memset(calls.counts, 0, sizeof calls.counts);
    calls.blocking = 0;
    calls.blocking_site = NULL;
    calls.missing = NULL;
    pthread_mutex_unlock(&lock);
}

bool calls_first_failure(struct failed_call *out)
{
    pthread_mutex_lock(&lock);
    bool failed = calls.failed;
    if (failed)
        *out = calls.first;
    pthread_mutex_unlock(&lock);
    return failed;
}

unsigned calls_count(enum api api)
{
    pthread_mutex_lock(&lock);
    unsigned count = api < API_COUNT ? calls.counts[api] : 0;
    pthread_mutex_unlock(&lock);
    return count;
}

unsigned calls_blocking(void)
{
    pthread_mutex_lock(&lock);
    unsigned count = calls.blocking;
    pthread_mutex_unlock(&lock);
    return count;
}

const void *calls_blocking_site(void)
{
    pthread_mutex_lock(&lock);
    const void *site = calls.blocking_site;
    pthread_mutex_unlock(&lock);
    return site;
}

const char *calls_missing(void)
{
    pthread_mutex_lock(&lock);
    const char *missing = calls.missing;
    pthread_mutex_unlock(&lock);
    return missing;
}

const void *calls_open_capture(void)
{
    static const char somewhere;
    pthread_mutex_lock(&lock);
    const void *site = !calls.capturing     ? NULL
                       : calls.capture_site ? calls.capture_site
                                            : &somewhere;
    pthread_mutex_unlock(&lock);
    return site;
}

size_t calls_live(struct live_resource *out, size_t most)
{
    pthread_mutex_lock(&lock);
    size_t count = calls.live_count;
    for (size_t i = 0; i < count && i < most; i++)
        out[i] = calls.live[i];
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---- errors */

static const struct error {
    int code;
    const char *name, *text, *meaning;
} errors[] = {
#define X(code, name, text, meaning) {code, #name, text, meaning},
#include "cuda_error.def"
#undef X
};

static const struct error *find_error(int code)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == code)
            return &errors[i];
    return NULL;
}

const char *cuda_error_name(int result)
{
    const struct error *error = find_error(result);
    return error ? error->name : "unrecognized error code";
}

const char *cuda_error_text(int result)
{
    const struct error *error = find_error(result);
    return error ? error->text : "unrecognized error code";
}

const char *cuda_error_meaning(int result)
{
    const struct error *error = find_error(result);
    return !error           ? _("this error has no further explanation")
           : error->meaning ? msg_get(error->meaning)
                            : error->text;
}
