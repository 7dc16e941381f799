/* Captures begun, asked about and ended. When one ends, every node has to be needed, in the end, by
 * the set of the stream in which it began. */
#include "sim_graph_capture.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdlib.h>

enum { STATUS_NONE, STATUS_ACTIVE, STATUS_INVALID };

static uint64_t last_id;

static int begin(void *handle, int mode, struct graph *into, const struct node_set *needs)
{
    struct stream *stream = stream_find(handle);
    if (!stream)
        return CUDA_INVALID_HANDLE;
    if (mode < MODE_GLOBAL || mode > MODE_RELAXED)
        return CUDA_INVALID_VALUE;
    if (stream->legacy) {
        sim_why("%s", _("the default stream cannot be captured: capture one of your own"));
        return CUDA_CAPTURE_UNSUPPORTED;
    }
    if (stream->capture) {
        sim_why(_("this stream is being captured already, since line %d"), stream->capture->line);
        return CUDA_ILLEGAL_STATE;
    }
    struct capture *capture = mem_zero(1, sizeof *capture);
    capture->own_graph = !into;
    capture->graph = into ? into : graph_new(false);
    capture->origin = stream;
    capture->mode = mode;
    capture->line = sim_call_line();
    capture->thread = pthread_self();
    capture->id = ++last_id;
    set_copy(&capture->before, &capture->graph->nodes);
    if (needs)
        set_copy(&capture_add_place(capture, stream)->set, needs);
    else
        capture_add_place(capture, stream);
    capture->next = capture_list;
    capture_list = capture;
    return CUDA_OK;
}

static int begin_capture(void *stream, int mode)
{
    int error = sim_enter();
    return sim_leave(error ? error : begin(stream, mode, NULL, NULL));
}

/* Fills a set from the student's array; false when one of them is no node of the graph. */
static bool take_set(struct node_set *out, const struct graph *graph, void **nodes, size_t count)
{
    bool ok = nodes || !count;
    for (size_t i = 0; ok && i < count; i++) {
        struct graph_node *node = node_find(nodes[i]);
        ok = node && node->graph == graph && set_add(out, node);
    }
    return ok;
}

static int begin_to_graph(void *stream, void *handle, void **dependencies,
                          const void *dependency_data, size_t count, int mode)
{
    (void)dependency_data;
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph *graph = graph_find(handle);
    struct node_set needs = {0};
    int result = graph && take_set(&needs, graph, dependencies, count)
                     ? begin(stream, mode, graph, &needs)
                     : CUDA_INVALID_VALUE;
    set_free(&needs);
    return sim_leave(result);
}

static void add_ancestors(struct node_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->items[i]->needs.count; k++)
            set_add(set, set->items[i]->needs.items[k]);
}

static bool all_joined(struct capture *capture)
{
    struct node_set reached = {0};
    set_copy(&reached, &capture_place(capture, capture->origin)->set);
    for (size_t i = 0; i < capture->loose.count; i++)
        set_add(&reached, capture->loose.items[i]);
    add_ancestors(&reached);
    bool ok = true;
    for (size_t i = 0; ok && i < capture->graph->nodes.count; i++) {
        const struct graph_node *node = capture->graph->nodes.items[i];
        ok = set_has(&reached, node) || set_has(&capture->before, node);
    }
    set_free(&reached);
    return ok;
}

static void finish(struct capture *capture)
{
    for (size_t i = 0; i < capture->place_count; i++) {
        capture->places[i].stream->capture = NULL;
        set_free(&capture->places[i].set);
    }
    for (size_t i = 0; i < capture->mark_count; i++)
        set_free(&capture->marks[i].set);
    free(capture->places);
    free(capture->marks);
    capture->places = NULL;
    capture->marks = NULL;
    capture->place_count = capture->mark_count = 0;
    set_free(&capture->before);
    set_free(&capture->loose);
    capture->ended = true;
}

static void abandon(struct capture *capture)
{
    finish(capture);
    if (capture->own_graph)
        graph_destroy(capture->graph);
}

void capture_leave(struct stream *stream)
{
    if (stream->capture && stream->capture->origin == stream)
        abandon(stream->capture);
}

static int end(struct stream *stream, struct graph **out)
{
    struct capture *capture = stream->capture;
    *out = NULL;
    if (!capture) {
        sim_why("%s", _("this stream is not being captured"));
        return CUDA_ILLEGAL_STATE;
    }
    if (capture->origin != stream) {
        sim_why(_("the capture has to end in the stream in which line %d began it"), capture->line);
        return capture_spoil(capture, CUDA_CAPTURE_UNMATCHED);
    }
    if (capture->mode != MODE_RELAXED && !pthread_equal(capture->thread, pthread_self())) {
        sim_why(_("another thread began this capture, in line %d"), capture->line);
        abandon(capture);
        return CUDA_CAPTURE_WRONG_THREAD;
    }
    int result = CUDA_OK;
    if (capture->invalid) {
        result = capture_spoilt(capture);
    } else if (!all_joined(capture)) {
        sim_why(
            _("a stream that joined the capture of line %d has work that the first stream does "
              "not wait for: record an event behind it, and let the first stream wait for that"),
            capture->line);
        result = CUDA_CAPTURE_UNJOINED;
    }
    finish(capture);
    if (result == CUDA_OK)
        *out = capture->graph;
    else if (capture->own_graph)
        graph_destroy(capture->graph);
    return result;
}

static int end_capture(void *handle, void **out)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct stream *stream = stream_find(handle);
    struct graph *graph = NULL;
    int result = !stream ? CUDA_INVALID_HANDLE : !out ? CUDA_INVALID_VALUE : end(stream, &graph);
    if (stream && out)
        *out = graph;
    return sim_leave(result);
}

static int status_of(const struct stream *stream)
{
    const struct capture *capture = stream->capture;
    return !capture ? STATUS_NONE : capture->invalid ? STATUS_INVALID : STATUS_ACTIVE;
}

/* The legacy stream has no answer while a capture keeps it waiting; asking spoils nothing. */
static int status_forbidden(const struct stream *stream)
{
    const struct capture *capture = stream->legacy ? capture_blocking() : NULL;
    if (!capture)
        return CUDA_OK;
    sim_why(_("the default stream cannot be used while line %d's capture is on"), capture->line);
    return CUDA_CAPTURE_IMPLICIT;
}

static int is_capturing(void *handle, int *status)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct stream *stream = stream_find(handle);
    int result = !stream   ? CUDA_INVALID_HANDLE
                 : !status ? CUDA_INVALID_VALUE
                           : status_forbidden(stream);
    if (result == CUDA_OK)
        *status = status_of(stream);
    return sim_leave(result);
}

static int capture_info(void *handle, int *status, unsigned long long *id, void **graph,
                        void ***dependencies, const void **edge_data, size_t *count)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct stream *stream = stream_find(handle);
    int result = !stream   ? CUDA_INVALID_HANDLE
                 : !status ? CUDA_INVALID_VALUE
                           : status_forbidden(stream);
    if (result != CUDA_OK)
        return sim_leave(result);
    *status = status_of(stream);
    if (*status != STATUS_ACTIVE)
        return sim_leave(CUDA_OK);
    struct place *place = capture_place(stream->capture, stream);
    if (id)
        *id = stream->capture->id;
    if (graph)
        *graph = stream->capture->graph;
    if (dependencies)
        *dependencies = (void **)place->set.items;
    if (edge_data)
        *edge_data = NULL;
    if (count)
        *count = place->set.count;
    return sim_leave(CUDA_OK);
}

static int capture_info_v2(void *stream, int *status, unsigned long long *id, void **graph,
                           const void ***dependencies, size_t *count)
{
    return capture_info(stream, status, id, graph, (void ***)(uintptr_t)dependencies, NULL, count);
}

static int update_dependencies(void *handle, void **nodes, const void *data, size_t count,
                               unsigned flags)
{
    enum { ADD, SET };
    (void)data;
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct stream *stream = stream_find(handle);
    struct capture *capture = stream ? stream->capture : NULL;
    if (!stream || flags > SET)
        return sim_leave(stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE);
    if (!capture || capture->invalid)
        return sim_leave(capture ? capture_spoilt(capture) : CUDA_ILLEGAL_STATE);
    struct node_set set = {0};
    int result = CUDA_INVALID_VALUE;
    if (take_set(&set, capture->graph, nodes, count)) {
        struct node_set *now = &capture_place(capture, stream)->set;
        for (size_t i = 0; flags == SET && i < now->count; i++)
            set_add(&capture->loose, now->items[i]);
        now->count = flags == SET ? 0 : now->count;
        for (size_t i = 0; i < set.count; i++)
            set_add(now, set.items[i]);
        result = CUDA_OK;
    }
    set_free(&set);
    return sim_leave(result);
}

static int exchange_mode(int *mode)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    if (!mode || *mode < MODE_GLOBAL || *mode > MODE_RELAXED)
        return sim_leave(CUDA_INVALID_VALUE);
    int before = capture_thread_mode;
    capture_thread_mode = *mode;
    *mode = before;
    return sim_leave(CUDA_OK);
}

void capture_abandon(void)
{
    for (struct capture *capture = capture_list; capture; capture = capture->next) {
        if (!capture->ended)
            abandon(capture);
    }
    capture_thread_mode = MODE_GLOBAL;
}

static void forget_all(void)
{
    capture_abandon();
    for (struct capture *next; capture_list; capture_list = next) {
        next = capture_list->next;
        free(capture_list);
    }
}

void graph_install_captures(struct runtime *out)
{
    forget_all();
    out->cudaStreamBeginCapture = begin_capture;
    out->cudaStreamBeginCaptureToGraph = begin_to_graph;
    out->cudaStreamEndCapture = end_capture;
    out->cudaStreamIsCapturing = is_capturing;
    out->cudaStreamGetCaptureInfo = capture_info;
    out->cudaStreamGetCaptureInfo_v2 = capture_info_v2;
    out->cudaStreamUpdateCaptureDependencies = update_dependencies;
    out->cudaThreadExchangeStreamCaptureMode = exchange_mode;
}
