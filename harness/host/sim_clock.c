#include "sim.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

/* ---- the host */

void clock_host(double us)
{
    sim.now_us += us;
}

void clock_call(enum clock_call call)
{
    static const double costs[] = {[CLOCK_LAUNCH] = CLOCK_LAUNCH_US,
                                   [CLOCK_COPY] = CLOCK_COPY_US,
                                   [CLOCK_GRAPH] = CLOCK_GRAPH_US};
    clock_host(costs[call]);
}

void clock_stage(size_t bytes)
{
    clock_host((double)bytes / CLOCK_HOST_COPY_RATE);
}

void clock_wait_staged(const struct op *op, const char *what, int line)
{
    sim_wait_until(op->to_us, what, line);
}

/* ---- engines
 *
 * An engine is a row of busy pieces in order of time; ops run in another order than that in which
 * they would begin, so a later one may find a gap before an earlier one. */

struct busy {
    double from_us, to_us, share; /* of the engine, 0..1 */
};

static struct engine {
    struct busy *items;
    size_t count, capacity;
} engines[3];
enum { ENGINE_H2D, ENGINE_D2H, ENGINE_SMS };

static void add_busy(struct engine *engine, struct busy piece)
{
    if (engine->count == engine->capacity) {
        engine->capacity = engine->capacity ? engine->capacity * 2 : 64;
        engine->items = mem_grow(engine->items, engine->capacity, sizeof *engine->items);
    }
    size_t at = engine->count;
    while (at && engine->items[at - 1].from_us > piece.from_us)
        at--;
    memmove(engine->items + at + 1, engine->items + at,
            (engine->count - at) * sizeof *engine->items);
    engine->items[at] = piece;
    engine->count++;
}

/* The most that is taken of the engine at any time in [from, to). */
static double most_taken(const struct engine *engine, double from_us, double to_us)
{
    double most = 0;
    for (size_t i = 0; i < engine->count && engine->items[i].from_us < to_us; i++) {
        const struct busy *piece = &engine->items[i];
        double at = piece->from_us > from_us ? piece->from_us : from_us, taken = 0;
        if (piece->to_us <= from_us)
            continue;
        for (size_t k = 0; k < engine->count && engine->items[k].from_us <= at; k++)
            if (engine->items[k].to_us > at)
                taken += engine->items[k].share;
        most = taken > most ? taken : most;
    }
    return most;
}

/* What ended before anything that is still to come can begin. */
static void forget_old(struct engine *engine)
{
    double first_us = sim.now_us;
    size_t kept = 0;
    if (engine->count < 256)
        return;
    for (const struct op *op = sim.pending; op; op = op->next)
        first_us = op->submitted_us < first_us ? op->submitted_us : first_us;
    for (size_t i = 0; i < engine->count; i++)
        if (engine->items[i].to_us > first_us)
            engine->items[kept++] = engine->items[i];
    engine->count = kept;
}

static double earliest(const struct engine *engine, double ready_us, double length_us, double share)
{
    double best_us = ready_us;
    enum { SLACK = 1000000 };
    const double full = 1 + 1.0 / SLACK;
    if (most_taken(engine, ready_us, ready_us + length_us) + share <= full)
        return ready_us;
    best_us = -1;
    for (size_t i = 0; i < engine->count; i++) {
        double at = engine->items[i].to_us;
        if (at <= ready_us || (best_us >= 0 && at >= best_us))
            continue;
        if (most_taken(engine, at, at + length_us) + share <= full)
            best_us = at;
    }
    return best_us < 0 ? ready_us : best_us;
}

static void occupy(int which, struct op *op, double ready_us, double length_us, double share)
{
    struct engine *engine = &engines[which];
    forget_old(engine);
    op->from_us = earliest(engine, ready_us, length_us, share);
    op->to_us = op->from_us + length_us;
    add_busy(engine, (struct busy){op->from_us, op->to_us, share});
}

/* ---- ops */

static double launch_share(const struct launch *l)
{
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    double share = blocks * l->block[0] * l->block[1] * l->block[2] / CLOCK_RESIDENT_THREADS;
    return share > 1 ? 1 : share;
}

double clock_kernel_us(const struct ptx_counters *c)
{
    double threads = (double)c->warps * 32;
    double share = threads < CLOCK_RESIDENT_THREADS ? threads / CLOCK_RESIDENT_THREADS : 1;
    double bytes = 32.0 * (double)(c->global_load_sectors + c->global_store_sectors);
    double by_memory = bytes / CLOCK_MEMORY_RATE;
    double by_instructions = (double)c->warp_instructions / CLOCK_INSTRUCTION_RATE;
    double longer = by_memory > by_instructions ? by_memory : by_instructions;
    return CLOCK_NODE_US + (share > 0 ? longer / share : 0);
}

static double copy_us(const struct copy *c)
{
    double bytes = (double)c->width * (double)c->rows;
    double rate = c->way == COPY_D2D   ? CLOCK_DEVICE_COPY_RATE
                  : c->way == COPY_H2H ? CLOCK_HOST_COPY_RATE
                  : c->pageable        ? CLOCK_PAGEABLE_RATE
                                       : CLOCK_PINNED_RATE;
    return CLOCK_COPY_LATENCY_US + bytes / rate;
}

static void place_copy(struct op *op, double ready_us)
{
    const struct copy *c = &op->work.copy;
    double us = copy_us(c);
    static const enum span_kind kinds[] = {SPAN_HOST, SPAN_H2D, SPAN_D2H, SPAN_D2D};
    if (c->way == COPY_H2H) {
        op->from_us = ready_us;
        op->to_us = ready_us + us;
    } else {
        occupy(c->way == COPY_H2D   ? ENGINE_H2D
               : c->way == COPY_D2H ? ENGINE_D2H
                                    : ENGINE_SMS,
               op, ready_us, us, 1);
    }
    report_span(kinds[c->way], op, op->from_us, op->to_us, "");
}

void clock_place(struct op *op, double work_us)
{
    double ready_us = op->submitted_us, own_us = op->submitted_us;
    for (size_t i = 0; i < op->need_count; i++) {
        const struct op *other = op->needs[i];
        ready_us = other->to_us > ready_us ? other->to_us : ready_us;
        if (other->chain == op->chain && other->to_us > own_us)
            own_us = other->to_us;
    }
    op->from_us = op->to_us = ready_us;
    switch (op->work.kind) {
    case WORK_COPY:
        place_copy(op, ready_us);
        return;
    case WORK_SET:
        occupy(ENGINE_SMS, op, ready_us,
               CLOCK_NODE_US + (double)op->work.set.width * (double)op->work.set.rows /
                                   (2 * CLOCK_DEVICE_COPY_RATE),
               1);
        report_span(SPAN_MEMSET, op, op->from_us, op->to_us, "");
        return;
    case WORK_KERNEL:
        occupy(ENGINE_SMS, op, ready_us, work_us > 0 ? work_us : CLOCK_NODE_US,
               launch_share(&op->work.launch));
        report_span(SPAN_KERNEL, op, op->from_us, op->to_us, op->work.launch.kernel->label);
        return;
    case WORK_HOST:
        op->to_us = ready_us + (work_us > 0 ? work_us : CLOCK_CALLBACK_US);
        report_span(SPAN_HOST, op, op->from_us, op->to_us, "");
        return;
    case WORK_WAIT:
        if (ready_us > own_us)
            report_span(SPAN_WAIT, op, own_us, ready_us, "cudaStreamWaitEvent");
        return;
    default:
        return;
    }
}
