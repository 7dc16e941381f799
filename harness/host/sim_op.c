/* Works that are queued, and how they run: as late as the rules allow, so that what was not waited
 * for is not there. Running an op means running everything it needs, in the order of submission;
 * that order is a topological one, since an op can need only what was there before it. */
#include "sim.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

/* ---- works */

static void *copy_bytes(const void *bytes, size_t count)
{
    void *copy = mem_alloc(count + 1);
    if (count)
        memcpy(copy, bytes, count);
    return copy;
}

void work_clone(struct work *out, const struct work *work)
{
    *out = *work;
    if (work->kind == WORK_COPY && work->copy.staged)
        out->copy.staged = copy_bytes(work->copy.staged, work->copy.width * work->copy.rows);
    if (work->kind == WORK_KERNEL)
        out->launch.params = copy_bytes(work->launch.params, work->launch.param_bytes);
    memory_count_work(out, 1);
}

void work_free(struct work *work)
{
    if (work->kind == WORK_COPY)
        free(work->copy.staged);
    if (work->kind == WORK_KERNEL)
        free(work->launch.params);
    memory_count_work(work, -1);
    *work = (struct work){.kind = WORK_EMPTY};
}

/* ---- ops */

struct op *op_keep(struct op *op)
{
    op->references++;
    return op;
}

/* Without recursion: what an op needs is let go when it has run. */
void op_drop(struct op *op)
{
    if (!op || --op->references)
        return;
    work_free(&op->work);
    vector_free(&op->after);
    free(op->needs);
    free(op->touches);
    free(op);
}

static void op_need(struct op *op, struct op *other)
{
    if (!other)
        return;
    vector_join(&op->after, &other->after);
    for (size_t i = 0; i < op->need_count; i++)
        if (op->needs[i] == other)
            return;
    op->needs = mem_grow(op->needs, op->need_count + 1, sizeof *op->needs);
    op->needs[op->need_count++] = op_keep(other);
}

void op_touch(struct op *op, uint64_t from, uint64_t bytes, uint8_t how)
{
    struct touch *last = op->touch_count ? &op->touches[op->touch_count - 1] : NULL;
    if (!bytes)
        return;
    if (last && last->to == from && last->how == how) {
        last->to = from + bytes;
        return;
    }
    op->touches = mem_grow(op->touches, op->touch_count + 1, sizeof *op->touches);
    op->touches[op->touch_count++] = (struct touch){from, from + bytes, how};
}

static struct op *op_new(struct stream *stream, struct work *work, uint32_t chain)
{
    struct op *op = mem_zero(1, sizeof *op);
    *op = (struct op){.work = *work,
                      .stream = stream,
                      .number = ++sim.next_op,
                      .chain = chain,
                      .submitted_us = sim.now_us,
                      .references = 1};
    work->kind = WORK_EMPTY; /* it belongs to op now */
    if (stream->number == UINT32_MAX)
        stream->number = stream->legacy ? 0 : ++sim.next_number;
    vector_join(&op->after, &sim.host);
    return op;
}

/* All needs are known: op takes its place and waits to be run. */
static void op_queue(struct op *op)
{
    op->at = chain_next(op->chain);
    vector_raise(&op->after, op->chain, op->at);
    if (op->work.kind == WORK_COPY)
        copy_touches(op);
    else if (op->work.kind == WORK_SET)
        set_touches(op);
    else if (op->work.kind == WORK_ALLOC || op->work.kind == WORK_FREE)
        op_touch(op, op->work.memory->va, op->work.memory->bytes, TOUCH_WRITE);
    else if (op->work.kind == WORK_HOST)
        sim_watch();
    order_guard(op);
    op_keep(op);
    op->previous = sim.pending_last;
    if (sim.pending_last)
        sim.pending_last->next = op;
    else
        sim.pending = op;
    sim.pending_last = op;
}

static void set_last(struct stream *stream, struct op *op)
{
    op_keep(op);
    op_drop(stream->last);
    stream->last = op;
}

static bool is_blocking(const struct stream *stream)
{
    return !stream->legacy && !(stream->flags & 1);
}

/* The stream's own order, and that of the legacy default stream: it waits for all blocking streams,
 * and they for it. */
static void need_streams(struct op *op, struct stream *stream)
{
    op_need(op, stream->last);
    if (stream->legacy) {
        for (struct stream *other = sim.streams; other; other = other->next)
            if (is_blocking(other))
                op_need(op, other->last);
    } else if (is_blocking(stream)) {
        op_need(op, sim.legacy->last);
    }
}

static void note_event(struct op *op)
{
    struct event *event = op->work.event;
    if (op->work.kind == WORK_WAIT) {
        op_need(op, event->record);
        return;
    }
    op_keep(op);
    op_drop(event->record);
    event->record = op;
    event->asked = 0;
}

int sim_submit(struct op **out, struct stream *stream, struct work *work)
{
    if (out)
        *out = NULL;
    int result = capture_takes_work(stream, work);
    if (result >= 0)
        return result;
    struct op *op = op_new(stream, work, stream->chain);
    need_streams(op, stream);
    if (op->work.kind == WORK_RECORD || op->work.kind == WORK_WAIT)
        note_event(op);
    op_queue(op);
    set_last(stream, op);
    stream->asked = 0;
    if (out)
        *out = op;
    else
        op_drop(op);
    return CUDA_OK;
}

/* ---- graphs */

struct dag {
    struct op **ops;
    bool *followed; /* its chain goes on in another op */
    bool *leaf;
    bool *own; /* took a chain of its own */
};

static void add_node(struct dag *dag, struct stream *stream, struct op *entry, size_t i,
                     const struct work *work, const struct graph_edge *edges, size_t edge_count,
                     uint32_t graph)
{
    struct work mine;
    struct op *op, *heir = NULL;
    work_clone(&mine, work);
    op = op_new(stream, &mine, 0);
    op->graph = graph;
    op_need(op, entry);
    for (size_t k = 0; k < edge_count; k++) {
        if (edges[k].to != i || edges[k].from >= i)
            continue;
        struct op *other = dag->ops[edges[k].from];
        op_need(op, other);
        dag->leaf[edges[k].from] = false;
        if (!heir && !dag->followed[edges[k].from]) {
            heir = other;
            dag->followed[edges[k].from] = true;
        }
    }
    op->chain = heir ? heir->chain : chain_take(&op->after);
    dag->own[i] = !heir;
    dag->leaf[i] = true;
    if (op->work.kind == WORK_RECORD || op->work.kind == WORK_WAIT)
        note_event(op);
    op_queue(op);
    dag->ops[i] = op;
}

static struct op *add_empty(struct stream *stream, uint32_t graph, int line)
{
    struct work work = {.kind = WORK_EMPTY, .line = line};
    struct op *op = op_new(stream, &work, stream->chain);
    op->graph = graph;
    need_streams(op, stream);
    return op;
}

int sim_submit_graph(struct stream *stream, const struct work *works, size_t count,
                     const struct graph_edge *edges, size_t edge_count, uint32_t graph, int line)
{
    struct dag dag = {
        .ops = mem_zero(count + 1, sizeof *dag.ops),
        .followed = mem_zero(count + 1, sizeof *dag.followed),
        .leaf = mem_zero(count + 1, sizeof *dag.leaf),
        .own = mem_zero(count + 1, sizeof *dag.own),
    };
    struct op *entry = add_empty(stream, graph, line);
    op_queue(entry);
    set_last(stream, entry);
    for (size_t i = 0; i < count; i++)
        add_node(&dag, stream, entry, i, &works[i], edges, edge_count, graph);
    struct op *exit = add_empty(stream, graph, line);
    for (size_t i = 0; i < count; i++)
        if (dag.leaf[i])
            op_need(exit, dag.ops[i]);
    op_queue(exit);
    set_last(stream, exit);
    stream->asked = 0;
    for (size_t i = 0; i < count; i++) {
        if (dag.own[i])
            chain_give(dag.ops[i]->chain);
        op_drop(dag.ops[i]);
    }
    op_drop(entry);
    op_drop(exit);
    free(dag.ops);
    free(dag.followed);
    free(dag.leaf);
    free(dag.own);
    return CUDA_OK;
}

/* ---- running */

static void unlink_pending(struct op *op)
{
    if (op->previous)
        op->previous->next = op->next;
    else
        sim.pending = op->next;
    if (op->next)
        op->next->previous = op->previous;
    else
        sim.pending_last = op->previous;
    op->next = op->previous = NULL;
}

static double run_work(struct op *op)
{
    bool callback = op->work.kind == WORK_HOST && op->work.host.callback;
    if (sim.sticky && !callback)
        return 0;
    switch (op->work.kind) {
    case WORK_COPY:
        return copy_run(op);
    case WORK_SET:
        return set_run(op);
    case WORK_KERNEL:
        return launch_run(op);
    case WORK_HOST:
        return host_function_run(op);
    case WORK_ALLOC:
    case WORK_FREE:
        memory_run(&op->work);
        return 0;
    default:
        return 0;
    }
}

static void run_one(struct op *op)
{
    unlink_pending(op);
    double work_us = run_work(op);
    if (op->work.kind == WORK_KERNEL)
        order_guard(op);
    op->done = true;
    op->marked = false;
    order_check(op);
    clock_place(op, work_us);
    for (size_t i = 0; i < op->need_count; i++)
        op_drop(op->needs[i]);
    free(op->needs);
    op->needs = NULL;
    op->need_count = 0;
    if (!op->touch_count) {
        op_drop(op);
        return;
    }
    op->previous = sim.recent_last;
    if (sim.recent_last)
        sim.recent_last->next = op;
    else
        sim.recent = op;
    sim.recent_last = op;
    sim.recent_count++;
}

static void mark(struct op *target)
{
    struct op **stack = mem_alloc(sizeof *stack);
    size_t count = 1, capacity = 1;
    stack[0] = target;
    target->marked = true;
    while (count) {
        const struct op *op = stack[--count];
        for (size_t i = 0; i < op->need_count; i++) {
            struct op *other = op->needs[i];
            if (other->done || other->marked)
                continue;
            other->marked = true;
            if (count == capacity)
                stack = mem_grow(stack, capacity *= 2, sizeof *stack);
            stack[count++] = other;
        }
    }
    free(stack);
}

void sim_run(struct op *target)
{
    if (!target || target->done)
        return;
    uint64_t last = target->number;
    mark(target);
    for (struct op *op = sim.pending, *next; op && op->number <= last; op = next) {
        next = op->next;
        if (op->marked)
            run_one(op);
    }
}

void sim_run_all(void)
{
    while (sim.pending)
        run_one(sim.pending);
}

/* ---- waiting */

void sim_wait_until(double us, const char *what, int line)
{
    if (us <= sim.now_us)
        return;
    if (what && calls_site())
        report_wait(sim.now_us, us, what, line);
    sim.now_us = us;
}

static void forget_some(void)
{
    order_settle(&sim.host);
    static size_t limit = 64;
    if (sim.pending && sim.recent_count < limit)
        return;
    order_forget();
    limit = sim.recent_count * 2 + 64;
}

void sim_finish(struct op *op, const char *what, int line)
{
    if (!op)
        return;
    op_keep(op);
    sim_run(op);
    sim_wait_until(op->to_us, what, line);
    vector_join(&sim.host, &op->after);
    op_drop(op);
    forget_some();
}

bool sim_finish_host_function(void)
{
    struct op *op = sim.pending;
    while (op && op->work.kind != WORK_HOST)
        op = op->next;
    sim_finish(op, NULL, 0);
    return op != NULL;
}

void sim_finish_all(const char *what, int line)
{
    double last_us = sim.now_us;
    sim_run_all();
    for (struct stream *stream = sim.streams; stream; stream = stream->next) {
        if (!stream->last)
            continue;
        last_us = stream->last->to_us > last_us ? stream->last->to_us : last_us;
        vector_join(&sim.host, &stream->last->after);
    }
    sim_wait_until(last_us, what, line);
    forget_some();
}
