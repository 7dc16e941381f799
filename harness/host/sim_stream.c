/* Streams: the legacy default stream, a default stream per thread, and those that were created. */
#include "sim.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdint.h>

enum { NON_BLOCKING = 1, LOWEST = 0, GREATEST = -5, PATIENCE = 2 };

static _Thread_local struct stream *own;

static struct stream *new_stream(unsigned flags, int priority)
{
    struct stream *stream = mem_zero(1, sizeof *stream);
    *stream = (struct stream){.flags = flags,
                              .priority = priority,
                              .id = ++sim.next_stream,
                              .number = UINT32_MAX,
                              .chain = chain_take(&sim.host),
                              .line = sim_call_line()};
    struct stream **end = &sim.streams;
    while (*end)
        end = &(*end)->next;
    *end = stream;
    return stream;
}

void streams_open(void)
{
    sim.legacy = new_stream(0, 0);
    sim.legacy->legacy = true;
    sim.legacy->number = 0;
    own = NULL;
}

struct stream *stream_find(void *handle)
{
    bool own_default = !handle && calls_per_thread();
    if (!own_default && (uintptr_t)handle <= 1)
        return sim.legacy;
    if (own_default || (uintptr_t)handle == 2) {
        if (!own) {
            own = new_stream(0, 0);
            own->per_thread = true;
        }
        return own;
    }
    for (struct stream *stream = sim.streams; stream; stream = stream->next) {
        if (stream != handle)
            continue;
        if (!stream->destroyed)
            return stream;
        sim_why(_("the stream of line %d was destroyed already"), stream->line);
        return NULL;
    }
    sim_why("%s", _("this stream was never created"));
    return NULL;
}

/* For calls about one stream: enters, and finds it. */
static int enter_with(struct stream **out, void *handle)
{
    int result = sim_enter();
    *out = result ? NULL : stream_find(handle);
    return !result && !*out ? CUDA_INVALID_HANDLE : result;
}

static int create(void **out, unsigned flags, int priority)
{
    int result = sim_enter();
    if (!result && (!out || (flags & ~(unsigned)NON_BLOCKING)))
        result = CUDA_INVALID_VALUE;
    if (!result)
        *out = new_stream(flags, priority > LOWEST     ? LOWEST
                                 : priority < GREATEST ? GREATEST
                                                       : priority);
    return sim_leave(result);
}

static int sim_stream_create(void **out)
{
    return create(out, 0, 0);
}

static int sim_stream_create_with_flags(void **out, unsigned flags)
{
    return create(out, flags, 0);
}

static int sim_stream_destroy(void *handle)
{
    struct stream *stream;
    int result = enter_with(&stream, handle);
    if (!result && (stream->legacy || stream->per_thread)) {
        sim_why("%s", _("the default stream is not yours to destroy"));
        result = CUDA_INVALID_HANDLE;
    }
    if (!result) { /* what is queued still runs; nothing waits for it */
        capture_leave(stream);
        stream->destroyed = true;
        chain_give(stream->chain);
    }
    return sim_leave(result);
}

/* The legacy default stream is done when all blocking streams are: an empty work in it says so. */
static int last_of(struct op **out, struct stream *stream)
{
    struct work work = {.kind = WORK_EMPTY, .line = sim_call_line()};
    if (!stream->legacy) {
        *out = stream->last ? op_keep(stream->last) : NULL;
        return CUDA_OK;
    }
    int result = sim_submit(out, stream, &work);
    bool idle = *out;
    for (size_t i = 0; idle && i < (*out)->need_count; i++)
        idle = (*out)->needs[i]->done;
    if (idle) /* it has nothing to wait for */
        sim_run(*out);
    return result;
}

static int sim_stream_synchronize(void *handle)
{
    struct stream *stream;
    struct op *last = NULL;
    int result = enter_with(&stream, handle);
    if (!result) {
        int forbidden = capture_forbids(CAPTURE_ASKS_STREAM, stream, NULL);
        result = forbidden > 0 ? forbidden : last_of(&last, stream);
    }
    if (!result) {
        sim_finish(last, "cudaStreamSynchronize", sim_call_line());
        op_drop(last);
        result = sim.sticky;
    }
    return sim_leave(result);
}

/* Who asks a few times gets the answer "not yet", and then waits: nothing runs by itself here. */
bool sim_still_busy(const struct op *op, unsigned *asked)
{
    enum { ASK_US = 5 };
    if (!op)
        return false;
    if ((!op->done || op->to_us > sim.now_us) && ++*asked <= PATIENCE) {
        clock_host(ASK_US);
        return true;
    }
    *asked = 0;
    return false;
}

static int sim_stream_query(void *handle)
{
    struct stream *stream;
    struct op *last = NULL;
    int result = enter_with(&stream, handle);
    if (!result) {
        int forbidden = capture_forbids(CAPTURE_ASKS_STREAM, stream, NULL);
        unsigned asked = stream->asked;
        result = forbidden > 0 ? forbidden : last_of(&last, stream);
        stream->asked = asked;
    }
    if (!result && sim_still_busy(last, &stream->asked))
        result = CUDA_NOT_READY;
    else if (!result) {
        sim_finish(last, "cudaStreamQuery", sim_call_line());
        result = sim.sticky;
    }
    op_drop(last);
    return sim_leave(result);
}

static int sim_device_synchronize(void)
{
    int result = sim_enter();
    if (!result) {
        int forbidden = capture_forbids(CAPTURE_WAITS_DEVICE, NULL, NULL);
        result = forbidden > 0 ? forbidden : 0;
    }
    if (!result) {
        sim_finish_all("cudaDeviceSynchronize", sim_call_line());
        result = sim.sticky;
    }
    return sim_leave(result);
}

/* ---- host functions */

static int submit_host(void *handle, const struct host_call *call)
{
    struct stream *stream;
    int result = enter_with(&stream, handle);
    if (!result && !call->function && !call->callback)
        result = CUDA_INVALID_VALUE;
    if (!result) {
        struct work work = {.kind = WORK_HOST, .line = sim_call_line(), .host = *call};
        result = sim_submit(NULL, stream, &work);
    }
    return sim_leave(result);
}

static int sim_launch_host_func(void *handle, void (*function)(void *user), void *user)
{
    return submit_host(handle, &(struct host_call){.function = function, .user = user});
}

static int sim_stream_add_callback(void *handle,
                                   void (*callback)(void *stream, int status, void *user),
                                   void *user, unsigned flags)
{
    (void)flags;
    return submit_host(handle,
                       &(struct host_call){.callback = callback, .user = user, .stream = handle});
}

int work_host(struct work *out, void (*function)(void *user), void *user)
{
    if (!function)
        return CUDA_INVALID_VALUE;
    *out = (struct work){
        .kind = WORK_HOST, .line = sim_call_line(), .host = {.function = function, .user = user}};
    return CUDA_OK;
}

/* ---- what streams are like */

static int sim_stream_get_flags(void *handle, unsigned *flags)
{
    struct stream *stream;
    int result = enter_with(&stream, handle);
    if (!result && !flags)
        result = CUDA_INVALID_VALUE;
    if (!result)
        *flags = stream->flags;
    return sim_leave(result);
}

static int sim_stream_get_priority(void *handle, int *priority)
{
    struct stream *stream;
    int result = enter_with(&stream, handle);
    if (!result && !priority)
        result = CUDA_INVALID_VALUE;
    if (!result)
        *priority = stream->priority;
    return sim_leave(result);
}

static int sim_stream_get_id(void *handle, unsigned long long *id)
{
    struct stream *stream;
    int result = enter_with(&stream, handle);
    if (!result && !id)
        result = CUDA_INVALID_VALUE;
    if (!result)
        *id = stream->id;
    return sim_leave(result);
}

static int sim_stream_get_device(void *handle, int *device)
{
    struct stream *stream;
    int result = enter_with(&stream, handle);
    if (!result && !device)
        result = CUDA_INVALID_VALUE;
    if (!result)
        *device = 0;
    return sim_leave(result);
}

static int sim_priority_range(int *least, int *greatest)
{
    int result = sim_enter();
    if (!result && least)
        *least = LOWEST;
    if (!result && greatest)
        *greatest = GREATEST;
    return sim_leave(result);
}

void sim_install_streams(struct runtime *out)
{
    out->cudaStreamCreate = sim_stream_create;
    out->cudaStreamCreateWithFlags = sim_stream_create_with_flags;
    out->cudaStreamCreateWithPriority = create;
    out->cudaStreamDestroy = sim_stream_destroy;
    out->cudaStreamSynchronize = sim_stream_synchronize;
    out->cudaStreamQuery = sim_stream_query;
    out->cudaDeviceSynchronize = sim_device_synchronize;
    out->cudaLaunchHostFunc = sim_launch_host_func;
    out->cudaStreamAddCallback = sim_stream_add_callback;
    out->cudaStreamGetFlags = sim_stream_get_flags;
    out->cudaStreamGetPriority = sim_stream_get_priority;
    out->cudaStreamGetId = sim_stream_get_id;
    out->cudaStreamGetDevice = sim_stream_get_device;
    out->cudaDeviceGetStreamPriorityRange = sim_priority_range;
}
