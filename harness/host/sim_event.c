/* Events: the newest record at the time of the call is what counts. */
#include "sim.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

enum { BLOCKING_SYNC = 1, DISABLE_TIMING = 2, INTERPROCESS = 4, ALL_FLAGS = 7 };

struct event *event_find(void *handle)
{
    for (struct event *event = sim.events; event; event = event->next) {
        if (event != handle)
            continue;
        if (!event->destroyed)
            return event;
        sim_why(_("the event of line %d was destroyed already"), event->line);
        return NULL;
    }
    sim_why("%s", handle ? _("this event was never created") : _("the event is a null pointer"));
    return NULL;
}

static int sim_event_create_with_flags(void **out, unsigned flags)
{
    int result = sim_enter();
    bool interprocess = flags & INTERPROCESS;
    if (!result &&
        (!out || (flags & ~(unsigned)ALL_FLAGS) || (interprocess && !(flags & DISABLE_TIMING))))
        result = CUDA_INVALID_VALUE;
    if (!result) {
        struct event *event = mem_zero(1, sizeof *event);
        *event = (struct event){.flags = flags, .line = sim_call_line(), .next = sim.events};
        sim.events = event;
        *out = event;
    }
    return sim_leave(result);
}

static int sim_event_create(void **out)
{
    return sim_event_create_with_flags(out, 0);
}

static int enter_with(struct event **out, void *handle)
{
    int result = sim_enter();
    *out = result ? NULL : event_find(handle);
    return !result && !*out ? CUDA_INVALID_HANDLE : result;
}

static int sim_event_destroy(void *handle)
{
    struct event *event;
    int result = enter_with(&event, handle);
    if (!result)
        event->destroyed = true;
    return sim_leave(result);
}

/* ---- in streams */

int event_record(struct event *event, struct stream *stream, int line)
{
    struct work work = {.kind = WORK_RECORD, .line = line, .event = event};
    return sim_submit(NULL, stream, &work);
}

int event_wait(struct event *event, struct stream *stream, int line)
{
    struct work work = {.kind = WORK_WAIT, .line = line, .event = event};
    if (!event->record) /* nothing recorded: nothing to wait for */
        return CUDA_OK;
    return sim_submit(NULL, stream, &work);
}

static int sim_event_record_with_flags(void *handle, void *stream_handle, unsigned flags)
{
    enum { EXTERNAL = 1 };
    struct event *event;
    int result = enter_with(&event, handle);
    struct stream *stream = result ? NULL : stream_find(stream_handle);
    if (!result && !stream)
        result = CUDA_INVALID_HANDLE;
    if (!result && (flags & ~(unsigned)EXTERNAL))
        result = CUDA_INVALID_VALUE;
    if (!result) {
        int taken = capture_takes_record(stream, event, flags & EXTERNAL);
        if (taken < 0)
            event->capture = NULL;
        result = taken >= 0 ? taken : event_record(event, stream, sim_call_line());
    }
    return sim_leave(result);
}

static int sim_event_record(void *event, void *stream)
{
    return sim_event_record_with_flags(event, stream, 0);
}

static int sim_stream_wait_event(void *stream_handle, void *handle, unsigned flags)
{
    enum { EXTERNAL = 1 };
    struct event *event;
    int result = enter_with(&event, handle);
    struct stream *stream = result ? NULL : stream_find(stream_handle);
    if (!result && !stream)
        result = CUDA_INVALID_HANDLE;
    if (!result && (flags & ~(unsigned)EXTERNAL))
        result = CUDA_INVALID_VALUE;
    if (!result) {
        int taken = capture_takes_wait(stream, event, flags & EXTERNAL);
        result = taken >= 0 ? taken : event_wait(event, stream, sim_call_line());
    }
    return sim_leave(result);
}

/* ---- asking */

static int sim_event_synchronize(void *handle)
{
    struct event *event;
    int result = enter_with(&event, handle);
    if (!result) {
        int forbidden = capture_forbids(CAPTURE_ASKS_EVENT, NULL, event);
        result = forbidden > 0 ? forbidden : 0;
    }
    if (!result) {
        sim_finish(event->record, "cudaEventSynchronize", sim_call_line());
        result = sim.sticky;
    }
    return sim_leave(result);
}

static int sim_event_query(void *handle)
{
    struct event *event;
    int result = enter_with(&event, handle);
    if (!result) {
        int forbidden = capture_forbids(CAPTURE_ASKS_EVENT, NULL, event);
        result = forbidden > 0 ? forbidden : 0;
    }
    if (!result && sim_still_busy(event->record, &event->asked))
        result = CUDA_NOT_READY;
    else if (!result) {
        sim_finish(event->record, "cudaEventQuery", sim_call_line());
        result = sim.sticky;
    }
    return sim_leave(result);
}

static bool has_timing(const struct event *event)
{
    if (event->flags & DISABLE_TIMING)
        sim_why(_("the event of line %d was created with cudaEventDisableTiming: it has no time"),
                event->line);
    else if (!event->record)
        sim_why(_("the event of line %d was never recorded"), event->line);
    else
        return true;
    return false;
}

/* Has the host waited for it, or has so much time passed that it is over? */
static bool is_over(const struct event *event)
{
    const struct op *op = event->record;
    if (op->done && op->to_us <= sim.now_us)
        return true;
    sim_why(_("the event of line %d has not happened yet: wait for it first "
              "(cudaEventSynchronize)"),
            event->line);
    return false;
}

static int sim_event_elapsed_time(float *ms, void *start_handle, void *end_handle)
{
    struct event *start, *end = NULL;
    int result = enter_with(&start, start_handle);
    if (!result && !(end = event_find(end_handle)))
        result = CUDA_INVALID_HANDLE;
    if (!result && !ms)
        result = CUDA_INVALID_VALUE;
    if (!result) {
        int forbidden = capture_forbids(CAPTURE_READS_TIME, NULL, start);
        if (forbidden < 0)
            forbidden = capture_forbids(CAPTURE_READS_TIME, NULL, end);
        result = forbidden > 0 ? forbidden : 0;
    }
    if (!result && (!has_timing(start) || !has_timing(end)))
        result = CUDA_INVALID_HANDLE;
    if (!result && (!is_over(start) || !is_over(end)))
        result = CUDA_NOT_READY;
    if (!result)
        *ms = (float)((end->record->to_us - start->record->to_us) / 1000);
    return sim_leave(result);
}

void sim_install_events(struct runtime *out)
{
    out->cudaEventCreate = sim_event_create;
    out->cudaEventCreateWithFlags = sim_event_create_with_flags;
    out->cudaEventDestroy = sim_event_destroy;
    out->cudaEventRecord = sim_event_record;
    out->cudaEventRecordWithFlags = sim_event_record_with_flags;
    out->cudaStreamWaitEvent = sim_stream_wait_event;
    out->cudaEventSynchronize = sim_event_synchronize;
    out->cudaEventQuery = sim_event_query;
    out->cudaEventElapsedTime = sim_event_elapsed_time;
    out->cudaEventElapsedTime_v2 = sim_event_elapsed_time;
}
