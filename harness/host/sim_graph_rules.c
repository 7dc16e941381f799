/* How to read this: recording an event in a capturing stream remembers the stream's set of nodes
 * under the event; a stream that waits for such an event joins the capture, or adds the set to its
 * own.
 *
 * A call that a capture forbids spoils it: it fails with the code of its own reason, everything
 * that follows with 901. An H200 was asked for every code here (tests/gpu/capture_codes.txt).
 *
 * The rules, as the hardware has them:
 *
 * - The legacy default stream cannot be used at all, 906, while a capture has a stream that it
 *   would wait for, and can never join one.
 * - Nothing that belongs to a capture can be asked or waited for: 900 for its streams and for the
 *   device, 907 for its events. Once it has ended its events are good for nothing, 1.
 * - What a graph could not repeat, or what asks streams and events beside it, is 900, but only for
 *   the threads that the capture's mode guards.
 * - Everything else stands beside the capture, as if there were none. */
#include "sim_graph_capture.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdlib.h>

enum { NON_BLOCKING = 1 };

struct capture *capture_list;
_Thread_local int capture_thread_mode = MODE_GLOBAL;

bool capture_is_on(const struct capture *capture)
{
    return capture && !capture->ended;
}

int capture_spoil(struct capture *capture, int result)
{
    if (!capture->invalid) {
        capture->invalid = true;
        capture->spoilt_line = sim_call_line();
    }
    return result;
}

int capture_spoilt(const struct capture *capture)
{
    sim_why(_("the capture that line %d began was spoilt in line %d already; only "
              "cudaStreamEndCapture gets out of it"),
            capture->line, capture->spoilt_line);
    return CUDA_CAPTURE_INVALIDATED;
}

struct place *capture_place(const struct capture *capture, const struct stream *stream)
{
    for (size_t i = 0; i < capture->place_count; i++)
        if (capture->places[i].stream == stream)
            return &capture->places[i];
    return NULL;
}

struct place *capture_add_place(struct capture *capture, struct stream *stream)
{
    capture->places = mem_grow(capture->places, capture->place_count + 1, sizeof *capture->places);
    struct place *place = &capture->places[capture->place_count++];
    *place = (struct place){.stream = stream};
    stream->capture = capture;
    return place;
}

static struct mark *capture_mark(struct capture *capture, const struct event *event)
{
    for (size_t i = 0; i < capture->mark_count; i++)
        if (capture->marks[i].event == event)
            return &capture->marks[i];
    return NULL;
}

/* A capture that the legacy default stream would wait for. */
struct capture *capture_blocking(void)
{
    for (struct capture *capture = capture_list; capture; capture = capture->next)
        for (size_t i = 0; !capture->ended && i < capture->place_count; i++)
            if (!(capture->places[i].stream->flags & NON_BLOCKING))
                return capture;
    return NULL;
}

static int legacy_forbidden(void)
{
    struct capture *capture = capture_blocking();
    if (!capture)
        return -1;
    sim_why(_("the default stream waits for every stream that was not made with "
              "cudaStreamNonBlocking, also for the one that is being captured since line %d, which "
              "runs nothing"),
            capture->line);
    return capture_spoil(capture, CUDA_CAPTURE_IMPLICIT);
}

/* ---- what other calls ask */

int capture_takes_work(struct stream *stream, struct work *work)
{
    int result = stream->legacy ? legacy_forbidden() : -1;
    struct capture *capture = stream->capture;
    if (result < 0 && capture && capture->invalid)
        result = capture_spoilt(capture);
    if (result < 0 && capture && work->kind == WORK_HOST && work->host.callback) {
        sim_why("%s", _("cudaStreamAddCallback cannot be captured; cudaLaunchHostFunc can"));
        result = capture_spoil(capture, CUDA_CAPTURE_UNSUPPORTED);
    }
    if (result >= 0) {
        work_free(work);
        return result;
    }
    if (!capture)
        return -1;
    if (work->kind == WORK_COPY) { /* a graph reads its source when it runs */
        free(work->copy.staged);
        work->copy.staged = NULL;
    }
    struct place *place = capture_place(capture, stream);
    struct graph_node *node = graph_add(capture->graph, work, &place->set);
    place->set.count = 0;
    set_add(&place->set, node);
    return CUDA_OK;
}

int capture_takes_graph(const struct stream *stream)
{
    int result = stream->legacy ? legacy_forbidden() : -1;
    if (result >= 0 || !stream->capture)
        return result;
    if (stream->capture->invalid)
        return capture_spoilt(stream->capture);
    sim_why("%s", _("a graph cannot be launched into a capture: add it to the graph as a child "
                    "(cudaGraphAddChildGraphNode)"));
    return capture_spoil(stream->capture, CUDA_CAPTURE_UNSUPPORTED);
}

/* A node that records an event, or waits for it, each time the graph runs. */
static int take_event(struct stream *stream, struct event *event, enum work_kind kind)
{
    struct work work = {.kind = kind, .line = sim_call_line(), .event = event};
    return capture_takes_work(stream, &work);
}

int capture_takes_record(struct stream *stream, struct event *event, bool external)
{
    if (external && stream->capture)
        return take_event(stream, event, WORK_RECORD);
    int result = stream->legacy ? legacy_forbidden() : -1;
    struct capture *capture = stream->capture;
    if (result >= 0)
        return result;
    if (!capture) {
        event->capture = NULL;
        return -1;
    }
    if (capture->invalid)
        return capture_spoilt(capture);
    struct mark *mark = capture_mark(capture, event);
    if (!mark) {
        capture->marks = mem_grow(capture->marks, capture->mark_count + 1, sizeof *capture->marks);
        mark = &capture->marks[capture->mark_count++];
        *mark = (struct mark){.event = event};
    }
    set_copy(&mark->set, &capture_place(capture, stream)->set);
    event->capture = capture;
    return CUDA_OK;
}

static int ended_event(const struct event *event)
{
    sim_why(_("the event was last recorded while line %d's capture was on, so it never happens by "
              "itself: record it again before something waits for it"),
            event->capture->line);
    return CUDA_INVALID_VALUE;
}

/* The event belongs to no capture that is on. */
static int wait_outside(struct stream *stream, struct event *event)
{
    struct capture *capture = stream->capture;
    if (event->capture)
        return capture ? capture_spoil(capture, ended_event(event)) : ended_event(event);
    if (capture && !event->record)
        return CUDA_OK; /* never recorded: there is nothing to wait for */
    if (capture) {
        sim_why(_("the event was not recorded in the capture that line %d began: a graph cannot "
                  "wait for what is outside it"),
                capture->line);
        return capture_spoil(capture, CUDA_CAPTURE_ISOLATION);
    }
    return -1;
}

int capture_takes_wait(struct stream *stream, struct event *event, bool external)
{
    if (external && stream->capture)
        return take_event(stream, event, WORK_WAIT);
    int result = stream->legacy ? legacy_forbidden() : -1;
    if (result >= 0)
        return result;
    if (stream->capture && stream->capture->invalid)
        return capture_spoilt(stream->capture);
    if (!capture_is_on(event->capture))
        return wait_outside(stream, event);
    if (event->capture->invalid) {
        capture_spoilt(event->capture);
        return stream->capture ? CUDA_CAPTURE_INVALIDATED : CUDA_INVALID_VALUE;
    }
    if (stream->capture && stream->capture != event->capture) {
        sim_why(_("the event belongs to the capture that line %d began, the stream to that of line "
                  "%d: two captures cannot become one graph"),
                event->capture->line, stream->capture->line);
        capture_spoil(event->capture, 0);
        return capture_spoil(stream->capture, CUDA_CAPTURE_MERGE);
    }
    struct capture *capture = event->capture;
    struct place *place = capture_place(capture, stream);
    if (stream->legacy) {
        sim_why("%s", _("the default stream cannot be captured: capture one of your own"));
        return capture_spoil(capture, CUDA_CAPTURE_IMPLICIT);
    }
    if (!place)
        place = capture_add_place(capture, stream);
    const struct mark *mark = capture_mark(capture, event);
    for (size_t i = 0; i < mark->set.count; i++)
        set_add(&place->set, mark->set.items[i]);
    return CUDA_OK;
}

/* Whether this capture keeps the calling thread from calls that a graph would not repeat. */
static bool guards_thread(const struct capture *capture)
{
    if (capture->ended || capture_thread_mode == MODE_RELAXED)
        return false;
    if (pthread_equal(capture->thread, pthread_self()))
        return capture->mode != MODE_RELAXED;
    return capture_thread_mode == MODE_GLOBAL && capture->mode == MODE_GLOBAL;
}

static int unsafe_forbidden(bool asks)
{
    int result = -1;
    for (struct capture *capture = capture_list; capture; capture = capture->next) {
        if (!guards_thread(capture))
            continue;
        sim_why(asks ? _("nothing may be asked or waited for in this thread while the capture that "
                         "line %d began is on: do it before or after, or begin that capture with "
                         "cudaStreamCaptureModeRelaxed")
                     : _("this call does its work at once, in no stream, so that a graph could not "
                         "repeat it: make it before the capture that line %d began, or after it"),
                capture->line);
        result = capture_spoil(capture, CUDA_CAPTURE_UNSUPPORTED);
    }
    return result;
}

static int device_forbidden(void)
{
    int result = -1;
    for (struct capture *capture = capture_list; capture; capture = capture->next) {
        if (capture->ended)
            continue;
        sim_why(_("nothing runs in a stream that is being captured (since line %d), so there is "
                  "nothing to wait for"),
                capture->line);
        result = capture_spoil(capture, CUDA_CAPTURE_UNSUPPORTED);
    }
    return result;
}

static int stream_forbidden(const struct stream *stream)
{
    int result = stream->legacy ? legacy_forbidden() : -1;
    if (result >= 0 || !stream->capture)
        return result;
    if (stream->capture->invalid)
        return capture_spoilt(stream->capture);
    sim_why(_("nothing runs in a stream that is being captured (since line %d), so there is "
              "nothing to wait for"),
            stream->capture->line);
    return capture_spoil(stream->capture, CUDA_CAPTURE_UNSUPPORTED);
}

static int event_forbidden(struct event *event, bool spoils)
{
    if (!event->capture)
        return -1;
    if (!capture_is_on(event->capture))
        return ended_event(event);
    sim_why(_("the event was last recorded while line %d's capture was on, so it never happens "
              "by itself"),
            event->capture->line);
    return spoils ? capture_spoil(event->capture, CUDA_CAPTURED_EVENT) : CUDA_CAPTURED_EVENT;
}

int capture_forbids(enum capture_sin sin, struct stream *stream, struct event *event)
{
    int result;
    switch (sin) {
    case CAPTURE_ALLOCATES:
        return unsafe_forbidden(false);
    case CAPTURE_WAITS_DEVICE:
        return device_forbidden();
    case CAPTURE_COPIES:
        return stream_forbidden(stream);
    case CAPTURE_ASKS_STREAM:
        result = stream_forbidden(stream);
        return result >= 0 ? result : unsafe_forbidden(true);
    case CAPTURE_ASKS_EVENT:
        result = event_forbidden(event, true);
        return result >= 0 ? result : unsafe_forbidden(true);
    case CAPTURE_READS_TIME:
        return event_forbidden(event, false);
    }
    return -1;
}
