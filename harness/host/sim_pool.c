/* Memory in the order of a stream: cudaMallocAsync and cudaFreeAsync, also where a graph does them.
 *
 * What a graph allocates has its address from the capture on, and the same one in each launch; it
 * is there only from the run of the allocation to that of its end (memory.dormant). `held` looks
 * ahead: launched work has allocated it, and none that was launched gives it back. The works that
 * name it are counted (memory.works), so that it goes with the last graph that knows it. */
#include "sim_graph_capture.h"
#include "sim_graph.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <string.h>

void memory_count_work(const struct work *work, int by)
{
    if (work->kind != WORK_ALLOC && work->kind != WORK_FREE)
        return;
    struct memory *m = work->memory;
    m->works += (unsigned)by;
    if (by < 0 && !m->works && m->of_graph && m->dormant && !m->held)
        memory_end(m, m->freed_line);
}

void memory_run(const struct work *work)
{
    struct memory *m = work->memory;
    if (work->kind == WORK_FREE && m->of_graph)
        memory_rest(m, work->line);
    else if (work->kind == WORK_FREE)
        memory_end(m, work->line);
    else if (m->of_graph && !m->freed) {
        m->dormant = false;
        memory_clear(m);
    }
}

/* ---- launching graphs */

static bool has(const struct graph *graph, enum work_kind kind, const struct memory *memory)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct work *work = &graph->nodes.items[i]->work;
        if (work->kind == kind && (!memory || work->memory == memory))
            return true;
    }
    return false;
}

bool graph_has_memory(const struct graph *graph)
{
    return has(graph, WORK_ALLOC, NULL) || has(graph, WORK_FREE, NULL);
}

int graph_take_memory(const struct graph *graph, bool frees_first)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct work *work = &graph->nodes.items[i]->work;
        if (work->kind == WORK_ALLOC && work->memory->held && !frees_first) {
            sim_why(_("%s, which this graph allocates, is still there from the last launch: free "
                      "it in the graph or between two launches"),
                    work->memory->name);
            return CUDA_INVALID_VALUE;
        }
        if (work->kind == WORK_FREE && !work->memory->held &&
            !has(graph, WORK_ALLOC, work->memory)) {
            sim_why(_("this graph frees %s, which is not allocated now"), work->memory->name);
            return CUDA_INVALID_VALUE;
        }
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct work *work = &graph->nodes.items[i]->work;
        if (work->kind == WORK_ALLOC)
            work->memory->held = !has(graph, WORK_FREE, work->memory);
        else if (work->kind == WORK_FREE)
            work->memory->held = false;
    }
    return CUDA_OK;
}

/* ---- the API */

static int allocate(void **out, size_t bytes, struct stream *stream)
{
    struct memory *memory;
    int result = memory_allocate_device(&memory, bytes);
    if (result)
        return result;
    struct work work = {.kind = WORK_ALLOC, .line = sim_call_line(), .memory = memory};
    memory->of_graph = memory->dormant = stream->capture != NULL;
    memory_count_work(&work, 1);
    result = sim_submit(NULL, stream, &work);
    if (result)
        memory_end(memory, sim_call_line());
    else
        *out = (void *)(uintptr_t)memory->va;
    return result;
}

/* In a captured stream they become nodes; in any other they are calls that a graph cannot repeat.
 */
static int beside_a_capture(const struct stream *stream)
{
    bool legacy = stream->legacy && capture_blocking(); /* which says why itself */
    return stream->capture || legacy ? -1 : capture_forbids(CAPTURE_ALLOCATES, NULL, NULL);
}

static int sim_malloc_async(void **out, size_t bytes, void *handle)
{
    int result = sim_enter();
    struct stream *stream = result ? NULL : stream_find(handle);
    if (!result && !stream)
        result = CUDA_INVALID_HANDLE;
    if (!result && !out)
        result = CUDA_INVALID_VALUE;
    if (!result)
        *out = NULL;
    int forbidden = result ? -1 : beside_a_capture(stream);
    if (forbidden > 0)
        result = forbidden;
    return sim_leave(result || !bytes ? result : allocate(out, bytes, stream));
}

static int sim_malloc_from_pool(void **out, size_t bytes, void *pool, void *stream)
{
    (void)pool;
    return sim_malloc_async(out, bytes, stream);
}

static int release(void *pointer, struct stream *stream)
{
    if (!pointer)
        return CUDA_OK;
    struct memory *memory = memory_find_start(pointer, true);
    if (!memory)
        return CUDA_INVALID_VALUE;
    if (stream->capture && !memory->of_graph) {
        sim_why(_("%s was not allocated by a graph, so no graph can free it: free it outside the "
                  "capture"),
                memory->name);
        return CUDA_INVALID_VALUE;
    }
    if (!stream->capture && memory->of_graph) {
        if (!memory_is_held(memory))
            return CUDA_INVALID_VALUE;
        memory->held = false;
    }
    struct work work = {.kind = WORK_FREE, .line = sim_call_line(), .memory = memory};
    memory_count_work(&work, 1);
    return sim_submit(NULL, stream, &work);
}

static int sim_free_async(void *pointer, void *handle)
{
    int result = sim_enter();
    struct stream *stream = result ? NULL : stream_find(handle);
    if (!result && !stream)
        result = CUDA_INVALID_HANDLE;
    int forbidden = result ? -1 : beside_a_capture(stream);
    if (forbidden > 0)
        result = forbidden;
    return sim_leave(result ? result : release(pointer, stream));
}

void sim_install_pools(struct runtime *out)
{
    out->cudaMallocAsync = sim_malloc_async;
    out->cudaMallocFromPoolAsync = sim_malloc_from_pool;
    out->cudaFreeAsync = sim_free_async;
}
