/* Graphs made and read node by node. */
#include "sim_graph.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdlib.h>
#include <string.h>

static int create(void **out, unsigned flags)
{
    int error = sim_enter();
    if (error || !out || flags)
        return sim_leave(error ? error : CUDA_INVALID_VALUE);
    *out = graph_new(false);
    return sim_leave(CUDA_OK);
}

static int destroy(void *handle)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph *graph = graph_find(handle);
    if (!graph || graph->inner)
        return sim_leave(CUDA_INVALID_VALUE);
    graph_destroy(graph);
    return sim_leave(CUDA_OK);
}

static int clone(void **out, void *handle)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph *graph = graph_find(handle);
    if (!graph || !out)
        return sim_leave(CUDA_INVALID_VALUE);
    if (graph_has_memory(graph)) {
        report_cannot("%s", _("the simulator does not copy graphs that allocate or free memory"));
        return sim_leave(CUDA_NOT_SUPPORTED);
    }
    *out = graph_clone(graph, false);
    return sim_leave(CUDA_OK);
}

/* ---- adding */

/* Where a node is to go: `result` is that of making its work, which it takes over. */
struct adding {
    void **out;
    void *graph, **needs;
    size_t count;
};

static int add(const struct adding *to, struct work *work, int result, const struct graph *child)
{
    if (result != CUDA_OK)
        return sim_leave(result);
    if (child && graph_has_memory(child)) {
        report_cannot("%s", _("the simulator does not copy graphs that allocate or free memory"));
        return sim_leave(CUDA_NOT_SUPPORTED);
    }
    struct graph *graph = graph_find(to->graph);
    struct node_set needs = {0};
    bool ok = graph && to->out && (to->needs || !to->count);
    for (size_t i = 0; ok && i < to->count; i++) {
        struct graph_node *node = node_find(to->needs[i]);
        ok = node && node->graph == graph && set_add(&needs, node);
    }
    if (ok) {
        struct graph_node *node = graph_add(graph, work, &needs);
        if (child)
            node->child = graph_clone(child, true);
        *to->out = node;
    } else {
        work_free(work);
    }
    set_free(&needs);
    return sim_leave(ok ? CUDA_OK : CUDA_INVALID_VALUE);
}

#define TO (&(struct adding){out, graph, needs, count})

static int add_kernel(void **out, void *graph, void **needs, size_t count, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return add(TO, &work, error ? error : graph_kernel_work(&work, params), NULL);
}

static int add_memset(void **out, void *graph, void **needs, size_t count, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return add(TO, &work, error ? error : graph_memset_work(&work, params), NULL);
}

static int add_host(void **out, void *graph, void **needs, size_t count, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return add(TO, &work, error ? error : graph_host_work(&work, params), NULL);
}

static int add_memcpy(void **out, void *graph, void **needs, size_t count, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return add(TO, &work, error ? error : graph_memcpy_work(&work, params), NULL);
}

static int add_memcpy_1d(void **out, void *graph, void **needs, size_t count, void *to,
                         const void *from, size_t bytes, int kind)
{
    struct work work = {0};
    int error = sim_enter();
    return add(TO, &work, error ? error : graph_memcpy1d_work(&work, to, from, bytes, kind), NULL);
}

static int add_memcpy_from_symbol(void **out, void *graph, void **needs, size_t count, void *to,
                                  const void *symbol, size_t bytes, size_t offset, int kind)
{
    struct work work = {0};
    uint64_t from = 0;
    int error = sim_enter();
    if (!error)
        error = symbol_address(&from, symbol, offset, bytes);
    if (!error)
        error = graph_memcpy1d_work(&work, to, (const void *)(uintptr_t)from, bytes, kind);
    return add(TO, &work, error, NULL);
}

static int add_memcpy_to_symbol(void **out, void *graph, void **needs, size_t count,
                                const void *symbol, const void *from, size_t bytes, size_t offset,
                                int kind)
{
    struct work work = {0};
    uint64_t to = 0;
    int error = sim_enter();
    if (!error)
        error = symbol_address(&to, symbol, offset, bytes);
    if (!error)
        error = graph_memcpy1d_work(&work, (void *)(uintptr_t)to, from, bytes, kind);
    return add(TO, &work, error, NULL);
}

static int add_empty(void **out, void *graph, void **needs, size_t count)
{
    int error = sim_enter();
    struct work work = {.kind = WORK_EMPTY, .line = sim_call_line()};
    return add(TO, &work, error, NULL);
}

static int add_child(void **out, void *graph, void **needs, size_t count, void *child)
{
    int error = sim_enter();
    struct work work = {.kind = WORK_EMPTY, .line = sim_call_line()};
    const struct graph *inner = error ? NULL : graph_find(child);
    if (!error && (!inner || child == graph))
        error = CUDA_INVALID_VALUE;
    return add(TO, &work, error, inner);
}

static int add_event(const struct adding *to, enum work_kind kind, void *event)
{
    int error = sim_enter();
    struct work work = {.kind = kind, .line = sim_call_line()};
    work.event = error ? NULL : event_find(event);
    if (!error && !work.event)
        error = CUDA_INVALID_VALUE;
    return add(to, &work, error, NULL);
}

static int add_record(void **out, void *graph, void **needs, size_t count, void *event)
{
    return add_event(TO, WORK_RECORD, event);
}

static int add_wait(void **out, void *graph, void **needs, size_t count, void *event)
{
    return add_event(TO, WORK_WAIT, event);
}

static int add_any(void **out, void *graph, void **needs, const void *edge_data, size_t count,
                   void *params)
{
    (void)edge_data;
    struct work work = {0};
    struct graph *child = NULL;
    int error = sim_enter();
    return add(TO, &work, error ? error : graph_any_work(&work, &child, params), child);
}

/* ---- edges */

static int change_edges(void *handle, void **from, void **to, size_t count, bool adds)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph *graph = graph_find(handle);
    bool ok = graph && ((from && to) || !count);
    for (size_t i = 0; ok && i < count; i++) {
        struct graph_node *before = node_find(from[i]), *after = node_find(to[i]);
        ok = before && after && before->graph == graph && after->graph == graph && before != after;
        if (ok)
            ok = adds ? set_add(&after->needs, before) : set_remove(&after->needs, before);
    }
    return sim_leave(ok ? CUDA_OK : CUDA_INVALID_VALUE);
}

static int add_edges(void *graph, void **from, void **to, const void *data, size_t count)
{
    (void)data;
    return change_edges(graph, from, to, count, true);
}

static int remove_edges(void *graph, void **from, void **to, const void *data, size_t count)
{
    (void)data;
    return change_edges(graph, from, to, count, false);
}

static int get_edges(void *handle, void **from, void **to, void *data, size_t *count)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph *graph = graph_find(handle);
    if (!graph || !count || !from != !to)
        return sim_leave(CUDA_INVALID_VALUE);
    size_t found = 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct graph_node *node = graph->nodes.items[i];
        for (size_t k = 0; k < node->needs.count; k++, found++) {
            if (!from || found >= *count)
                continue;
            from[found] = node->needs.items[k];
            to[found] = node;
            if (data)
                memset((char *)data + 8 * found, 0, 8); /* cudaGraphEdgeData */
        }
    }
    for (size_t i = found; from && i < *count; i++)
        from[i] = to[i] = NULL;
    *count = from && found > *count ? *count : found;
    return sim_leave(CUDA_OK);
}

/* ---- reading */

/* Gives out those that fit, NULL in the places that are left, and how many there are. */
static int give(const struct node_set *set, void **nodes, size_t *count)
{
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < set->count ? set->items[i] : NULL;
    *count = nodes && set->count > *count ? *count : set->count;
    return sim_leave(CUDA_OK);
}

static int get_nodes(void *handle, void **nodes, size_t *count)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph *graph = graph_find(handle);
    return graph && count ? give(&graph->nodes, nodes, count) : sim_leave(CUDA_INVALID_VALUE);
}

static int get_roots(void *handle, void **nodes, size_t *count)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph *graph = graph_find(handle);
    if (!graph || !count)
        return sim_leave(CUDA_INVALID_VALUE);
    struct node_set roots = {0};
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (!graph->nodes.items[i]->needs.count)
            set_add(&roots, graph->nodes.items[i]);
    int result = give(&roots, nodes, count);
    set_free(&roots);
    return result;
}

static int get_needs(void *handle, void **nodes, void *data, size_t *count)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph_node *node = node_find(handle);
    if (!node || !count)
        return sim_leave(CUDA_INVALID_VALUE);
    if (data)
        memset(data, 0, 8 * *count);
    return give(&node->needs, nodes, count);
}

static int get_dependents(void *handle, void **nodes, void *data, size_t *count)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph_node *node = node_find(handle);
    if (!node || !count)
        return sim_leave(CUDA_INVALID_VALUE);
    struct node_set after = {0};
    for (size_t i = 0; i < node->graph->nodes.count; i++)
        if (set_has(&node->graph->nodes.items[i]->needs, node))
            set_add(&after, node->graph->nodes.items[i]);
    if (data)
        memset(data, 0, 8 * *count);
    int result = give(&after, nodes, count);
    set_free(&after);
    return result;
}

static int get_type(void *handle, int *type)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph_node *node = node_find(handle);
    if (!node || !type)
        return sim_leave(CUDA_INVALID_VALUE);
    *type = (int)node_type(node);
    return sim_leave(CUDA_OK);
}

static int get_child(void *handle, void **graph)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph_node *node = node_find(handle);
    if (!node || !node->child || !graph)
        return sim_leave(CUDA_INVALID_VALUE);
    *graph = node->child;
    return sim_leave(CUDA_OK);
}

static int find_in_clone(void **out, void *handle, void *graph)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph *in = graph_find(graph);
    struct graph_node *node = in ? graph_node_of(in, node_find(handle)) : NULL;
    if (!node || !out)
        return sim_leave(CUDA_INVALID_VALUE);
    *out = node;
    return sim_leave(CUDA_OK);
}

static int destroy_node(void *handle)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph_node *node = node_find(handle);
    if (!node)
        return sim_leave(CUDA_INVALID_VALUE);
    node_destroy(node);
    return sim_leave(CUDA_OK);
}

void graph_install_nodes(struct runtime *out)
{
    out->cudaGraphCreate = create;
    out->cudaGraphDestroy = destroy;
    out->cudaGraphClone = clone;
    out->cudaGraphAddKernelNode = add_kernel;
    out->cudaGraphAddMemcpyNode = add_memcpy;
    out->cudaGraphAddMemcpyNode1D = add_memcpy_1d;
    out->cudaGraphAddMemcpyNodeFromSymbol = add_memcpy_from_symbol;
    out->cudaGraphAddMemcpyNodeToSymbol = add_memcpy_to_symbol;
    out->cudaGraphAddMemsetNode = add_memset;
    out->cudaGraphAddHostNode = add_host;
    out->cudaGraphAddEmptyNode = add_empty;
    out->cudaGraphAddChildGraphNode = add_child;
    out->cudaGraphAddEventRecordNode = add_record;
    out->cudaGraphAddEventWaitNode = add_wait;
    out->cudaGraphAddNode = add_any;
    out->cudaGraphAddDependencies = add_edges;
    out->cudaGraphRemoveDependencies = remove_edges;
    out->cudaGraphGetEdges = get_edges;
    out->cudaGraphGetNodes = get_nodes;
    out->cudaGraphGetRootNodes = get_roots;
    out->cudaGraphNodeGetDependencies = get_needs;
    out->cudaGraphNodeGetDependentNodes = get_dependents;
    out->cudaGraphNodeGetType = get_type;
    out->cudaGraphChildGraphNodeGetGraph = get_child;
    out->cudaGraphNodeFindInClone = find_in_clone;
    out->cudaGraphDestroyNode = destroy_node;
}
