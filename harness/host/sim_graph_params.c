/* What nodes are made of: from the toolkit's structs to works, and back. */
#include "sim_graph.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdlib.h>
#include <string.h>

int graph_kernel_work(struct work *out, const struct kernel_params *params)
{
    if (!params || params->extra || (!params->params && !params->function))
        return CUDA_INVALID_VALUE;
    return work_launch(out, params->function, params->grid, params->block, params->params,
                       params->shared_bytes);
}

int graph_memset_work(struct work *out, const struct memset_params *params)
{
    if (!params || !params->width || !params->height)
        return CUDA_INVALID_VALUE;
    size_t width = params->width * params->element_bytes;
    return work_set(out, params->to, params->height > 1 ? params->pitch : width, params->value,
                    params->element_bytes, width, params->height);
}

int graph_host_work(struct work *out, const struct host_params *params)
{
    if (!params || !params->function)
        return CUDA_INVALID_VALUE;
    return work_host(out, params->function, params->user);
}

/* A graph reads its source when it runs, not when it is made. */
static int read_late(struct work *work, int result)
{
    if (result == CUDA_OK && work->kind == WORK_COPY) {
        free(work->copy.staged);
        work->copy.staged = NULL;
    }
    return result;
}

int graph_memcpy1d_work(struct work *out, void *to, const void *from, size_t bytes, int kind)
{
    if (!bytes)
        return CUDA_INVALID_VALUE;
    return read_late(out, work_copy(out, to, bytes, from, bytes, bytes, 1, kind));
}

static char *corner(const struct pitched *area, const struct position *at)
{
    return (char *)area->at + (at->z * area->height + at->y) * area->pitch + at->x;
}

int graph_memcpy_work(struct work *out, const struct memcpy_params *params)
{
    if (!params || !params->from.at || !params->to.at)
        return CUDA_INVALID_VALUE;
    const struct position *extent = &params->extent;
    bool flat =
        extent->z == 1 || (params->from.height == extent->y && params->to.height == extent->y);
    if (params->from_array || params->to_array || !flat) {
        report_cannot("%s", _("the simulator copies between plain memory only, not arrays or parts "
                              "of volumes"));
        return CUDA_NOT_SUPPORTED;
    }
    if (!extent->x || !extent->y || !extent->z)
        return CUDA_INVALID_VALUE;
    size_t rows = extent->y * extent->z;
    return read_late(out, work_copy(out, corner(&params->to, &params->to_position),
                                    rows > 1 ? params->to.pitch : extent->x,
                                    corner(&params->from, &params->from_position),
                                    rows > 1 ? params->from.pitch : extent->x, extent->x, rows,
                                    params->kind));
}

/* cudaGraphNodeParams: a type, three reserved words, and the part that the type says. */
union any_params {
    struct kernel_params kernel;
    struct {
        int flags, reserved[3];
        struct memcpy_params params;
    } copy;
    struct memset_params set;
    struct host_params host;
    void *handle; /* of a child graph; of the event to record or to wait for */
};

int graph_any_work(struct work *out, struct graph **child, const void *params)
{
    if (!params)
        return CUDA_INVALID_VALUE;
    int type;
    union any_params any;
    memcpy(&type, params, sizeof type);
    memcpy(&any, (const char *)params + 4 * sizeof type, sizeof any);
    *child = NULL;
    *out = (struct work){.kind = WORK_EMPTY, .line = sim_call_line()};
    switch (type) {
    case NODE_KERNEL:
        return graph_kernel_work(out, &any.kernel);
    case NODE_MEMCPY:
        return graph_memcpy_work(out, &any.copy.params);
    case NODE_MEMSET:
        return graph_memset_work(out, &any.set);
    case NODE_HOST:
        return graph_host_work(out, &any.host);
    case NODE_GRAPH:
        *child = graph_find(any.handle);
        return *child ? CUDA_OK : CUDA_INVALID_VALUE;
    case NODE_EMPTY:
        return CUDA_OK;
    case NODE_WAIT:
    case NODE_RECORD:
        out->kind = type == NODE_WAIT ? WORK_WAIT : WORK_RECORD;
        out->event = event_find(any.handle);
        return out->event ? CUDA_OK : CUDA_INVALID_VALUE;
    default:
        report_cannot(_("the simulator has no graph nodes of type %d"), type);
        return CUDA_NOT_SUPPORTED;
    }
}

int node_set_work(struct graph_node *node, struct work *work)
{
    if (node->work.kind != work->kind) {
        work_free(work);
        return CUDA_INVALID_VALUE;
    }
    work_free(&node->work);
    node->work = *work;
    return CUDA_OK;
}

/* ---- cudaGraph*NodeSetParams and GetParams */

/* The node, when it is one of this kind. */
static struct graph_node *find_kind(const void *handle, enum work_kind kind)
{
    struct graph_node *node = node_find(handle);
    return node && node->work.kind == kind && !node->child ? node : NULL;
}

/* `result` is that of making work; on success the node takes it. */
static int replace(void *handle, struct work *work, int result)
{
    struct graph_node *node = result == CUDA_OK ? find_kind(handle, work->kind) : NULL;
    if (result == CUDA_OK && !node) {
        work_free(work);
        result = CUDA_INVALID_VALUE;
    }
    return sim_leave(result == CUDA_OK ? node_set_work(node, work) : result);
}

static int kernel_set_params(void *node, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(node, &work, error ? error : graph_kernel_work(&work, params));
}

static int memset_set_params(void *node, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(node, &work, error ? error : graph_memset_work(&work, params));
}

static int host_set_params(void *node, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(node, &work, error ? error : graph_host_work(&work, params));
}

static int memcpy_set_params(void *node, const void *params)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(node, &work, error ? error : graph_memcpy_work(&work, params));
}

static int memcpy_set_params_1d(void *node, void *to, const void *from, size_t bytes, int kind)
{
    struct work work = {0};
    int error = sim_enter();
    return replace(node, &work, error ? error : graph_memcpy1d_work(&work, to, from, bytes, kind));
}

static int any_set_params(void *node, void *params)
{
    struct work work = {0};
    struct graph *child = NULL;
    int result = sim_enter();
    if (!result)
        result = graph_any_work(&work, &child, params);
    return replace(node, &work, child ? CUDA_NOT_SUPPORTED : result);
}

/* Where in the node's own copy each parameter stands. */
static void **param_places(struct graph_node *node)
{
    const struct ptx_entry *entry = node->work.launch.kernel->entry;
    free(node->param_places);
    node->param_places = mem_zero(entry->param_count + 1, sizeof *node->param_places);
    for (size_t i = 0; i < entry->param_count; i++)
        node->param_places[i] = node->work.launch.params + entry->params[i].offset;
    return node->param_places;
}

static int kernel_get_params(void *handle, void *params)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph_node *node = find_kind(handle, WORK_KERNEL);
    if (!node || !params)
        return sim_leave(CUDA_INVALID_VALUE);
    const struct launch *launch = &node->work.launch;
    *(struct kernel_params *)params =
        (struct kernel_params){.function = (void *)(uintptr_t)launch->kernel->host,
                               .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
                               .block = {launch->block[0], launch->block[1], launch->block[2]},
                               .shared_bytes = launch->shared_bytes,
                               .params = param_places(node)};
    return sim_leave(CUDA_OK);
}

static int memset_get_params(void *handle, void *params)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph_node *node = find_kind(handle, WORK_SET);
    if (!node || !params)
        return sim_leave(CUDA_INVALID_VALUE);
    const struct set *set = &node->work.set;
    *(struct memset_params *)params =
        (struct memset_params){.to = (void *)(uintptr_t)set->to,
                               .pitch = set->pitch,
                               .value = set->value,
                               .element_bytes = set->element_bytes,
                               .width = set->width / set->element_bytes,
                               .height = set->rows};
    return sim_leave(CUDA_OK);
}

static int host_get_params(void *handle, void *params)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph_node *node = find_kind(handle, WORK_HOST);
    if (!node || !params)
        return sim_leave(CUDA_INVALID_VALUE);
    *(struct host_params *)params =
        (struct host_params){node->work.host.function, node->work.host.user};
    return sim_leave(CUDA_OK);
}

static int memcpy_get_params(void *handle, void *params)
{
    static const int kinds[] = {
        [COPY_H2H] = 0, [COPY_H2D] = 1, [COPY_D2H] = 2, [COPY_D2D] = 3}; /* cudaMemcpyKind */
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    struct graph_node *node = find_kind(handle, WORK_COPY);
    if (!node || !params)
        return sim_leave(CUDA_INVALID_VALUE);
    const struct copy *copy = &node->work.copy;
    *(struct memcpy_params *)params = (struct memcpy_params){
        .from = {(void *)(uintptr_t)copy->from, copy->from_pitch, copy->width, copy->rows},
        .to = {(void *)(uintptr_t)copy->to, copy->to_pitch, copy->width, copy->rows},
        .extent = {copy->width, copy->rows, 1},
        .kind = kinds[copy->way]};
    return sim_leave(CUDA_OK);
}

/* ---- event nodes */

static int event_get(void *handle, void **out, enum work_kind kind)
{
    int error = sim_enter();
    if (error)
        return sim_leave(error);
    const struct graph_node *node = find_kind(handle, kind);
    if (!node || !out)
        return sim_leave(CUDA_INVALID_VALUE);
    *out = node->work.event;
    return sim_leave(CUDA_OK);
}

static int event_set(void *handle, void *event, enum work_kind kind)
{
    struct work work = {.kind = kind, .line = sim_call_line()};
    int error = sim_enter();
    work.event = error ? NULL : event_find(event);
    return replace(handle, &work, error ? error : work.event ? CUDA_OK : CUDA_INVALID_VALUE);
}

static int record_get_event(void *node, void **out)
{
    return event_get(node, out, WORK_RECORD);
}

static int wait_get_event(void *node, void **out)
{
    return event_get(node, out, WORK_WAIT);
}

static int record_set_event(void *node, void *event)
{
    return event_set(node, event, WORK_RECORD);
}

static int wait_set_event(void *node, void *event)
{
    return event_set(node, event, WORK_WAIT);
}

void graph_install_params(struct runtime *out)
{
    out->cudaGraphKernelNodeSetParams = kernel_set_params;
    out->cudaGraphKernelNodeGetParams = kernel_get_params;
    out->cudaGraphMemsetNodeSetParams = memset_set_params;
    out->cudaGraphMemsetNodeGetParams = memset_get_params;
    out->cudaGraphHostNodeSetParams = host_set_params;
    out->cudaGraphHostNodeGetParams = host_get_params;
    out->cudaGraphMemcpyNodeSetParams = memcpy_set_params;
    out->cudaGraphMemcpyNodeSetParams1D = memcpy_set_params_1d;
    out->cudaGraphMemcpyNodeGetParams = memcpy_get_params;
    out->cudaGraphNodeSetParams = any_set_params;
    out->cudaGraphEventRecordNodeGetEvent = record_get_event;
    out->cudaGraphEventRecordNodeSetEvent = record_set_event;
    out->cudaGraphEventWaitNodeGetEvent = wait_get_event;
    out->cudaGraphEventWaitNodeSetEvent = wait_set_event;
}
