/* What comes before what. An op is ordered before another when the other's vector covers its place
 * in its chain; two ops on the same bytes, one writing, neither ordered before the other, disturb
 * one another whatever the answer was. */
#include "sim.h"

#include "sim_guard.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdlib.h>
#include <string.h>

/* ---- vectors and chains */

static struct {
    struct {
        uint32_t last;
        bool unused;
    } * items;
    uint32_t count;
} chains;

static void reserve(struct vector *v, uint32_t count)
{
    if (v->count >= count)
        return;
    v->at = mem_grow(v->at, count, sizeof *v->at);
    memset(v->at + v->count, 0, (count - v->count) * sizeof *v->at);
    v->count = count;
}

void vector_join(struct vector *into, const struct vector *other)
{
    reserve(into, other->count);
    for (uint32_t i = 0; i < other->count; i++)
        if (other->at[i] > into->at[i])
            into->at[i] = other->at[i];
}

void vector_raise(struct vector *v, uint32_t chain, uint32_t to)
{
    reserve(v, chain + 1);
    if (v->at[chain] < to)
        v->at[chain] = to;
}

bool vector_covers(const struct vector *v, uint32_t chain, uint32_t at)
{
    return (chain < v->count ? v->at[chain] : 0) >= at;
}

void vector_free(struct vector *v)
{
    free(v->at);
    *v = (struct vector){0};
}

uint32_t chain_take(const struct vector *base)
{
    for (uint32_t i = 0; i < chains.count; i++) {
        if (chains.items[i].unused && vector_covers(base, i, chains.items[i].last)) {
            chains.items[i].unused = false;
            return i;
        }
    }
    chains.items = mem_grow(chains.items, chains.count + 1, sizeof *chains.items);
    memset(&chains.items[chains.count], 0, sizeof *chains.items);
    return chains.count++;
}

void chain_give(uint32_t chain)
{
    chains.items[chain].unused = true;
}

uint32_t chain_next(uint32_t chain)
{
    return ++chains.items[chain].last;
}

/* ---- comparing */

static bool before(const struct op *a, const struct op *b)
{
    return vector_covers(&b->after, a->chain, a->at);
}

static bool disturbs(const struct touch *a, const struct touch *b, uint64_t bytes)
{
    enum { WRITES = TOUCH_WRITE | TOUCH_ATOMIC };
    if (!((a->how | b->how) & WRITES))
        return false;
    if (!((a->how | b->how) & (TOUCH_READ | TOUCH_WRITE)))
        return false; /* atomics alone */
    /* Some bytes of a word each: they may well be different ones. */
    return !((a->how | b->how) & TOUCH_PART) || bytes > 4;
}

/* The first bytes that disturb one another; both lists are sorted. A kernel is followed by words of
 * four bytes: less than that in common with a copy may be none. */
static bool find_clash(const struct op *a, const struct op *b, struct touch *out)
{
    bool by_words = a->work.kind == WORK_KERNEL || b->work.kind == WORK_KERNEL;
    uint64_t least = by_words ? 4 : 1;
    size_t i = 0, k = 0;
    while (i < a->touch_count && k < b->touch_count) {
        const struct touch *x = &a->touches[i], *y = &b->touches[k];
        uint64_t from = x->from > y->from ? x->from : y->from;
        uint64_t to = x->to < y->to ? x->to : y->to;
        if (from < to && to - from >= least && disturbs(x, y, to - from)) {
            *out = (struct touch){from, to, x->how};
            return true;
        }
        if (x->to <= y->to)
            i++;
        else
            k++;
    }
    return false;
}

static const char *verb(uint8_t how)
{
    return how & TOUCH_ATOMIC                          ? _("updates")
           : (how & TOUCH_WRITE) && (how & TOUCH_READ) ? _("reads and writes")
           : how & TOUCH_WRITE                         ? _("writes")
                                                       : _("reads");
}

/* "kernel scale in stream 2", "the copy to the device in stream 1" */
static void name_op(const struct op *op, char *out, size_t size)
{
    char stream[48];
    if (op->graph)
        snprintf(stream, sizeof stream, _("graph launch %u"), (unsigned)op->graph);
    else if (op->stream->legacy)
        snprintf(stream, sizeof stream, "%s", _("the default stream"));
    else
        snprintf(stream, sizeof stream, _("stream %u"), (unsigned)op->stream->number);
    switch (op->work.kind) {
    case WORK_KERNEL:
        snprintf(out, size, _("kernel %s in %s"), op->work.launch.kernel->label, stream);
        return;
    case WORK_COPY:
        snprintf(out, size,
                 op->work.copy.way == COPY_H2D   ? _("the copy to the device in %s")
                 : op->work.copy.way == COPY_D2H ? _("the copy to the host in %s")
                                                 : _("the copy in %s"),
                 stream);
        return;
    case WORK_SET:
        snprintf(out, size, _("the memset in %s"), stream);
        return;
    case WORK_ALLOC:
        snprintf(out, size, _("the allocation in %s"), stream);
        return;
    case WORK_FREE:
        snprintf(out, size, _("cudaFreeAsync in %s"), stream);
        return;
    default:
        snprintf(out, size, _("an operation in %s"), stream);
        return;
    }
}

static uint8_t how_at(const struct op *op, const struct touch *clash)
{
    for (size_t i = 0; i < op->touch_count; i++)
        if (op->touches[i].from < clash->to && clash->from < op->touches[i].to)
            return op->touches[i].how;
    return TOUCH_READ;
}

static void report_clash(const struct op *first, const struct op *second, const struct touch *clash)
{
    char a[128], b[128], where[128];
    const struct memory *memory = memory_at(clash->from);
    name_op(first, a, sizeof a);
    name_op(second, b, sizeof b);
    if (memory)
        snprintf(where, sizeof where, _("bytes %llu to %llu of %s"),
                 (unsigned long long)(clash->from - memory->va),
                 (unsigned long long)(clash->to - 1 - memory->va), memory->name);
    else
        snprintf(where, sizeof where, _("%llu bytes of host memory"),
                 (unsigned long long)(clash->to - clash->from));
    bool one_graph = first->graph && first->graph == second->graph;
    report_unordered(
        second->work.line, first->work.line,
        one_graph
            ? _("%s %s %s, and %s %s them, and no path of the graph leads from the one to the "
                "other: add a dependency; in a capture, record an event behind the first and let "
                "the second's stream wait for it (cudaStreamWaitEvent)")
            : _("%s %s %s, and %s %s them, with nothing between the two that orders them: record "
                "an event behind the first and let the second's stream wait for it "
                "(cudaStreamWaitEvent), or put both into one stream"),
        b, verb(how_at(second, clash)), where, a, verb(how_at(first, clash)));
}

void order_check(const struct op *op)
{
    struct touch clash;
    if (!op->touch_count)
        return;
    for (const struct op *other = sim.recent; other; other = other->next) {
        if (!before(other, op) && find_clash(other, op, &clash))
            report_clash(other, op, &clash);
    }
}

/* ---- what need no longer be compared */

static bool forgettable(const struct op *op)
{
    if (!op->touch_count)
        return true;
    if (!vector_covers(&sim.host, op->chain, op->at))
        return false;
    for (const struct op *pending = sim.pending; pending; pending = pending->next)
        if (!before(op, pending))
            return false;
    return true;
}

void order_forget(void)
{
    for (struct op *op = sim.recent, *next; op; op = next) {
        next = op->next;
        if (!forgettable(op))
            continue;
        if (op->previous)
            op->previous->next = next;
        else
            sim.recent = next;
        if (next)
            next->previous = op->previous;
        else
            sim.recent_last = op->previous;
        op->next = op->previous = NULL;
        sim.recent_count--;
        op_drop(op);
    }
}

/* ---- the host's own accesses: sim_guard.h sees them */

static bool host_knows(const struct op *op)
{
    return vector_covers(&sim.host, op->chain, op->at);
}

static enum span_kind span_kind(const struct op *op)
{
    switch (op->work.kind) {
    case WORK_KERNEL:
        return SPAN_KERNEL;
    case WORK_SET:
        return SPAN_MEMSET;
    default:
        return op->work.copy.way == COPY_H2D ? SPAN_H2D : SPAN_D2H;
    }
}

void order_guard(struct op *op)
{
    for (size_t i = 0; i < op->touch_count; i++) {
        const struct touch *t = &op->touches[i];
        if (!memory_is_host(t->from))
            continue;
        guard_need(&(struct guard_need){.operation = op->number,
                                        .at = (const void *)(uintptr_t)t->from,
                                        .bytes = t->to - t->from,
                                        .written = t->how & (TOUCH_WRITE | TOUCH_ATOMIC),
                                        .kind = span_kind(op),
                                        .line = op->work.line});
        op->guarded = true;
    }
}

/* While a host function runs, it is the host; what comes before or after it is not in its way. */
void order_suspend(const struct op *function)
{
    struct op *lists[] = {sim.recent, sim.pending};
    for (size_t l = 0; l < 2; l++) {
        for (struct op *op = lists[l]; op; op = op->next) {
            if (!op->guarded || (!before(op, function) && !before(function, op)))
                continue;
            guard_settle(op->number);
            op->guarded = false;
            op->suspended = true;
        }
    }
}

void order_resume(void)
{
    struct op *lists[] = {sim.recent, sim.pending};
    for (size_t l = 0; l < 2; l++) {
        for (struct op *op = lists[l]; op; op = op->next) {
            if (!op->suspended)
                continue;
            op->suspended = false;
            order_guard(op);
        }
    }
}

void order_settle(const struct vector *known)
{
    for (struct op *op = sim.recent; op; op = op->next) {
        if (!op->guarded || !vector_covers(known, op->chain, op->at))
            continue;
        guard_settle(op->number);
        op->guarded = false;
    }
}

const struct op *order_user(const struct memory *memory)
{
    const struct op *lists[] = {sim.recent, sim.pending};
    for (size_t l = 0; l < 2; l++)
        for (const struct op *op = lists[l]; op; op = op->next)
            for (size_t i = 0; i < op->touch_count; i++)
                if (op->touches[i].from - memory->va < memory->bytes && !host_knows(op))
                    return op;
    return NULL;
}
