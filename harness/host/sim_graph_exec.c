/* Executable graphs: made, changed in place, launched. */
#include "sim_graph.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdlib.h>
#include <string.h>

/* Measured on an H200 with CUDA 13.0: 0.27 ms for 40 kernel nodes. */
#define INSTANTIATE_NODE_US 6.75

enum {
    INVALID_STRUCTURE = 2,
    UPDATE_ERROR = 1,
    UPDATE_TOPOLOGY = 2,
    UPDATE_TYPE = 3,
    UPDATE_PARAMETERS = 5,
    AUTO_FREE = 1,
    DEVICE_LAUNCH = 4,
    FLAGS_ALL = 15
};

static struct graph_exec *execs;

static struct graph_exec *exec_find(const void *handle)
{
    struct graph_exec *exec = execs;
    while (exec && exec != handle)
        exec = exec->next;
    if (exec && !exec->destroyed)
        return exec;
    if (exec)
        sim_why(_("the graph instantiated at line %d was destroyed already"), exec->line);
    else
        sim_why("%s", handle ? _("this graph was never instantiated")
                             : _("the instantiated graph is a null pointer"));
    return NULL;
}

/* ---- making */

static size_t count_nodes(const struct graph *graph)
{
    size_t count = graph->nodes.count;
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.items[i]->child)
            count += count_nodes(graph->nodes.items[i]->child);
    return count;
}

static bool has_circle(const struct graph *graph)
{
    uint32_t *order = graph_order(graph);
    bool circle = !order;
    free(order);
    for (size_t i = 0; !circle && i < graph->nodes.count; i++)
        if (graph->nodes.items[i]->child)
            circle = has_circle(graph->nodes.items[i]->child);
    return circle;
}

/* "Only one instantiation of the graph may exist at any point in time", for graphs with memory
 * nodes: their memory has one address. */
static bool is_instantiated(const struct graph *graph)
{
    for (const struct graph_exec *exec = execs; exec; exec = exec->next)
        if (exec->origin == graph && !exec->destroyed) {
            sim_why(_("a graph that allocates or frees memory can be instantiated only once at a "
                      "time, and what line %d made of it is still there: destroy that first"),
                    exec->line);
            return true;
        }
    return false;
}

static int make(void **out, void *handle, unsigned long long flags)
{
    const struct graph *graph = graph_find(handle);
    if (!out || !graph || flags > FLAGS_ALL)
        return CUDA_INVALID_VALUE;
    if (flags & DEVICE_LAUNCH) {
        report_cannot("%s", _("the simulator launches graphs from the host only"));
        return CUDA_NOT_SUPPORTED;
    }
    if (has_circle(graph)) {
        sim_why("%s", _("the graph's dependencies make a circle: some node waits for itself"));
        return CUDA_INVALID_VALUE;
    }
    if (graph_has_memory(graph) && is_instantiated(graph))
        return CUDA_NOT_SUPPORTED;
    struct graph_exec *exec = mem_zero(1, sizeof *exec);
    exec->graph = graph_clone(graph, true);
    exec->origin = graph;
    exec->flags = flags;
    exec->line = sim_call_line();
    exec->next = execs;
    execs = exec;
    *out = exec;
    clock_host(INSTANTIATE_NODE_US * (double)count_nodes(graph));
    return CUDA_OK;
}

static int instantiate(void **out, void *graph, unsigned long long flags)
{
    int error = sim_enter();
    int forbidden = error ? -1 : capture_forbids(CAPTURE_ALLOCATES, NULL, NULL);
    if (forbidden > 0)
        error = forbidden;
    return sim_leave(error ? error : make(out, graph, flags));
}

struct instantiate_params { /* cudaGraphInstantiateParams */
    unsigned long long flags;
    void *upload_stream, *error_node;
    int result;
};

static int instantiate_with_params(void **out, void *graph, void *handle)
{
    struct instantiate_params *params = handle;
    int error = sim_enter();
    if (error || !params)
        return sim_leave(error ? error : CUDA_INVALID_VALUE);
    int forbidden = capture_forbids(CAPTURE_ALLOCATES, NULL, NULL);
    int result = forbidden > 0 ? forbidden : make(out, graph, params->flags);
    params->error_node = NULL;
    params->result = result == CUDA_OK ? 0 : INVALID_STRUCTURE;
    return sim_leave(result);
}

static int destroy(void *handle)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph_exec *exec = exec_find(handle);
    if (!exec)
        return sim_leave(CUDA_INVALID_VALUE);
    exec->destroyed = true;
    graph_destroy(exec->graph);
    if (exec->last)
        op_drop(exec->last);
    exec->last = NULL;
    return sim_leave(CUDA_OK);
}

static int get_flags(void *handle, unsigned long long *flags)
{
    int error = sim_enter();
    const struct graph_exec *exec = error ? NULL : exec_find(handle);
    if (!exec || !flags)
        return sim_leave(error ? error : CUDA_INVALID_VALUE);
    *flags = exec->flags;
    return sim_leave(CUDA_OK);
}

/* ---- launching */

/* The graph as one list of works, child graphs in place of their nodes. */
struct flat {
    struct work *works; /* borrowed contents */
    struct graph_edge *edges;
    size_t count, edge_count, edge_capacity;
};

static void add_edge(struct flat *flat, uint32_t from, uint32_t to)
{
    if (flat->edge_count == flat->edge_capacity) {
        flat->edge_capacity = flat->edge_capacity ? flat->edge_capacity * 2 : 64;
        flat->edges = mem_grow(flat->edges, flat->edge_capacity, sizeof *flat->edges);
    }
    flat->edges[flat->edge_count++] = (struct graph_edge){from, to};
}

static uint32_t add_work(struct flat *flat, const struct work *work)
{
    flat->works = mem_grow(flat->works, flat->count + 1, sizeof *flat->works);
    flat->works[flat->count] = *work;
    return (uint32_t)flat->count++;
}

/* Adds the nodes in an order in which each comes after what it needs; those that need nothing come
 * after `start`, if there is one. Returns a work that comes after all of them, made if `start` is
 * there: a child graph stands between two empty works, so that its edges are those of one node. */
static uint32_t flatten(struct flat *flat, const struct graph *graph, const uint32_t *start)
{
    uint32_t *order = graph_order(graph), end = 0;
    size_t count = graph->nodes.count;
    uint32_t *ends = mem_zero(count + 1, sizeof *ends);
    bool *needed = mem_zero(count + 1, sizeof *needed);
    for (size_t i = 0; order && i < count; i++) {
        const struct graph_node *node = graph->nodes.items[order[i]];
        const struct work nothing = {.kind = WORK_EMPTY, .line = node->work.line};
        uint32_t at = add_work(flat, node->child || node->disabled ? &nothing : &node->work);
        for (size_t k = 0; k < node->needs.count; k++) {
            add_edge(flat, ends[node->needs.items[k]->mark], at);
            needed[node->needs.items[k]->mark] = true;
        }
        if (start && !node->needs.count)
            add_edge(flat, *start, at);
        ends[order[i]] = node->child && !node->disabled ? flatten(flat, node->child, &at) : at;
    }
    if (start) {
        end = add_work(flat, &(struct work){.kind = WORK_EMPTY});
        for (size_t i = 0; order && i < count; i++)
            if (!needed[i])
                add_edge(flat, ends[i], end);
        if (!count)
            add_edge(flat, *start, end);
    }
    free(order);
    free(ends);
    free(needed);
    return end;
}

/* Two launches of one executable graph come one after the other, whatever their streams. */
static int follow_last(const struct graph_exec *exec, struct stream *stream)
{
    if (!exec->last || exec->stream == stream)
        return CUDA_OK;
    struct event event = {.record = exec->last};
    return event_wait(&event, stream, sim_call_line());
}

static int launch(struct graph_exec *exec, struct stream *stream)
{
    int result = capture_takes_graph(stream);
    if (result >= 0)
        return result;
    result = graph_take_memory(exec->graph, exec->flags & AUTO_FREE);
    if (result == CUDA_OK)
        result = follow_last(exec, stream);
    if (result != CUDA_OK)
        return result;
    clock_call(CLOCK_GRAPH);
    struct flat flat = {0};
    flatten(&flat, exec->graph, NULL);
    result = sim_submit_graph(stream, flat.works, flat.count, flat.edges, flat.edge_count,
                              ++sim.next_graph, sim_call_line());
    free(flat.works);
    free(flat.edges);
    if (exec->last)
        op_drop(exec->last);
    exec->last = stream->last ? op_keep(stream->last) : NULL;
    exec->stream = stream;
    return result;
}

static int graph_launch(void *handle, void *stream_handle)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph_exec *exec = exec_find(handle);
    struct stream *stream = stream_find(stream_handle);
    if (!exec || !stream)
        return sim_leave(exec ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE);
    return sim_leave(launch(exec, stream));
}

static int upload(void *handle, void *stream_handle)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph_exec *exec = exec_find(handle);
    const struct stream *stream = stream_find(stream_handle);
    return sim_leave(!exec ? CUDA_INVALID_VALUE : !stream ? CUDA_INVALID_HANDLE : CUDA_OK);
}

/* ---- changing */

struct update_result { /* cudaGraphExecUpdateResultInfo */
    int result;
    void *node, *from;
};

static bool same_shape(const struct work *a, const struct work *b)
{
    if (a->kind == WORK_COPY)
        return a->copy.way == b->copy.way && (a->copy.rows == 1) == (b->copy.rows == 1);
    if (a->kind == WORK_SET)
        return a->set.rows == b->set.rows && (a->set.rows == 1 || a->set.width == b->set.width);
    return true;
}

/* Nodes are paired in the order in which they were made. */
static int compare(const struct graph *ours, const struct graph *theirs, struct update_result *out)
{
    if (ours->nodes.count != theirs->nodes.count)
        return out->result = UPDATE_TOPOLOGY;
    graph_number(ours);
    graph_number(theirs);
    for (size_t i = 0; i < ours->nodes.count; i++) {
        const struct graph_node *a = ours->nodes.items[i];
        struct graph_node *b = theirs->nodes.items[i];
        out->node = b;
        if (node_type(a) != node_type(b))
            return out->result = UPDATE_TYPE;
        if (a->needs.count != b->needs.count)
            return out->result = UPDATE_TOPOLOGY;
        for (size_t k = 0; k < a->needs.count; k++)
            if (a->needs.items[k]->mark != b->needs.items[k]->mark) {
                out->from = b->needs.items[k];
                return out->result = UPDATE_TOPOLOGY;
            }
        if (a->child ? compare(a->child, b->child, out) : !same_shape(&a->work, &b->work))
            return out->result = a->child ? out->result : UPDATE_PARAMETERS;
    }
    out->node = NULL;
    return out->result = 0;
}

static void take_over(struct graph *ours, const struct graph *theirs)
{
    for (size_t i = 0; i < ours->nodes.count; i++) {
        struct graph_node *node = ours->nodes.items[i];
        struct work work;
        work_clone(&work, &theirs->nodes.items[i]->work);
        node_set_work(node, &work);
        if (node->child)
            take_over(node->child, theirs->nodes.items[i]->child);
    }
}

static int update(void *handle, void *graph_handle, void *info)
{
    struct update_result found = {.result = UPDATE_ERROR};
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph_exec *exec = exec_find(handle);
    const struct graph *graph = graph_find(graph_handle);
    int result = CUDA_INVALID_VALUE;
    if (exec && graph) {
        result = compare(exec->graph, graph, &found) ? CUDA_GRAPH_UPDATE_FAILURE : CUDA_OK;
        if (result == CUDA_OK)
            take_over(exec->graph, graph);
        else
            sim_why("%s", found.result == UPDATE_PARAMETERS
                              ? _("a copy or memset changed in a way that an executable graph "
                                  "cannot follow: instantiate it anew")
                              : _("the graph has other nodes or other dependencies than the one "
                                  "that was instantiated: instantiate it anew"));
    }
    if (info)
        *(struct update_result *)info = found;
    return sim_leave(result);
}

/* The executable graph's own node for a node of the graph that it was made from. */
static struct graph_node *exec_node(const void *handle, const void *node)
{
    const struct graph_exec *exec = exec_find(handle);
    return exec && node ? graph_node_of(exec->graph, node) : NULL;
}

/* `result` is that of making work; on success the node takes it. */
static int replace(void *exec, void *handle, struct work *work, int result)
{
    if (result != CUDA_OK)
        return sim_leave(result);
    struct graph_node *node = exec_node(exec, handle);
    if (!node || node->child || !same_shape(&node->work, work)) {
        work_free(work);
        return sim_leave(CUDA_INVALID_VALUE);
    }
    return sim_leave(node_set_work(node, work));
}

static int kernel_set_params(void *exec, void *node, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(exec, node, &work, error ? error : graph_kernel_work(&work, params));
}

static int memset_set_params(void *exec, void *node, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(exec, node, &work, error ? error : graph_memset_work(&work, params));
}

static int host_set_params(void *exec, void *node, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(exec, node, &work, error ? error : graph_host_work(&work, params));
}

static int memcpy_set_params(void *exec, void *node, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(exec, node, &work, error ? error : graph_memcpy_work(&work, params));
}

static int memcpy_set_params_1d(void *exec, void *node, void *to, const void *from, size_t bytes,
                                int kind)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(exec, node, &work,
                   error ? error : graph_memcpy1d_work(&work, to, from, bytes, kind));
}

static int event_set(void *exec, void *node, void *event, enum work_kind kind)
{
    int error = sim_enter();
    struct work work = {.kind = kind, .line = sim_call_line()};
    work.event = error ? NULL : event_find(event);
    return replace(exec, node, &work, error ? error : work.event ? CUDA_OK : CUDA_INVALID_VALUE);
}

static int record_set_event(void *exec, void *node, void *event)
{
    return event_set(exec, node, event, WORK_RECORD);
}

static int wait_set_event(void *exec, void *node, void *event)
{
    return event_set(exec, node, event, WORK_WAIT);
}

static int child_set_params(void *exec, void *handle, void *graph_handle)
{
    struct update_result found = {0};
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph_node *node = exec_node(exec, handle);
    const struct graph *graph = graph_find(graph_handle);
    if (!node || !node->child || !graph || compare(node->child, graph, &found))
        return sim_leave(CUDA_INVALID_VALUE);
    take_over(node->child, graph);
    return sim_leave(CUDA_OK);
}

static int any_set_params(void *exec, void *node, void *params)
{
    struct work work = {0};
    struct graph *child = NULL;
    int error = sim_enter();
    if (!error)
        error = graph_any_work(&work, &child, params);
    return replace(exec, node, &work, child ? CUDA_NOT_SUPPORTED : error);
}

static int set_enabled(void *exec, void *handle, unsigned enabled)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph_node *node = exec_node(exec, handle);
    if (!node || node_type(node) > NODE_MEMSET)
        return sim_leave(CUDA_INVALID_VALUE);
    node->disabled = !enabled;
    return sim_leave(CUDA_OK);
}

static int get_enabled(void *exec, void *handle, unsigned *enabled)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph_node *node = exec_node(exec, handle);
    if (!node || !enabled || node_type(node) > NODE_MEMSET)
        return sim_leave(CUDA_INVALID_VALUE);
    *enabled = !node->disabled;
    return sim_leave(CUDA_OK);
}

void graph_install_execs(struct runtime *out)
{
    for (struct graph_exec *next; execs; execs = next) {
        next = execs->next;
        op_drop(execs->last);
        free(execs);
    }
    out->cudaGraphInstantiate = instantiate;
    out->cudaGraphInstantiateWithFlags = instantiate;
    out->cudaGraphInstantiateWithParams = instantiate_with_params;
    out->cudaGraphExecDestroy = destroy;
    out->cudaGraphExecGetFlags = get_flags;
    out->cudaGraphLaunch = graph_launch;
    out->cudaGraphUpload = upload;
    out->cudaGraphExecUpdate = update;
    out->cudaGraphExecKernelNodeSetParams = kernel_set_params;
    out->cudaGraphExecMemsetNodeSetParams = memset_set_params;
    out->cudaGraphExecHostNodeSetParams = host_set_params;
    out->cudaGraphExecMemcpyNodeSetParams = memcpy_set_params;
    out->cudaGraphExecMemcpyNodeSetParams1D = memcpy_set_params_1d;
    out->cudaGraphExecEventRecordNodeSetEvent = record_set_event;
    out->cudaGraphExecEventWaitNodeSetEvent = wait_set_event;
    out->cudaGraphExecChildGraphNodeSetParams = child_set_params;
    out->cudaGraphExecNodeSetParams = any_set_params;
    out->cudaGraphNodeSetEnabled = set_enabled;
    out->cudaGraphNodeGetEnabled = get_enabled;
}
