#include "harness/ptx/sync.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/mbarrier.h"
#include "harness/ptx/observed.h"

#include <stdlib.h>
#include <string.h>

/* A barrier counts lanes, not warps: since Volta each thread arrives for itself. Lanes of one warp
 * that arrive one after another are only wrong when they come from different places; those that
 * never come show when nothing else can run (sync_stuck), unless they exit, which is legal. */

enum { BARRIERS = 16 };

struct waiter {
    struct warp *w;
    uint32_t path, lanes;
    const struct op *op;
    unsigned kind;
    uint64_t since; /* step */
};

struct barrier {
    uint32_t arrived[32], syncing[32];
    uint32_t arrived_warps, arrivals;
    uint32_t count; /* threads, 0: the block */
    uint32_t popc, all, any;
    bool busy;
    const struct op *first;
    uint32_t first_thread;
    const struct op *other; /* an arrival from another place */
    uint32_t other_thread;
    struct waiter *waiters;
    uint32_t waiter_count, waiter_capacity;
    uint32_t *vector, vector_size;
};

struct sync_block {
    struct barrier barriers[BARRIERS];
    struct mbarriers *mbarriers;
    struct block *block;
};

struct sync_block *sync_open(void)
{
    struct sync_block *sync = mem_zero(1, sizeof *sync);
    sync->mbarriers = mbarriers_open();
    return sync;
}

void sync_close(struct sync_block *sync)
{
    if (!sync)
        return;
    for (int i = 0; i < BARRIERS; i++) {
        free(sync->barriers[i].waiters);
        free(sync->barriers[i].vector);
    }
    mbarriers_close(sync->mbarriers);
    free(sync);
}

static void start_again(struct barrier *b)
{
    if (b->arrived_warps) {
        memset(b->arrived, 0, sizeof b->arrived);
        memset(b->syncing, 0, sizeof b->syncing);
    }
    b->arrived_warps = b->arrivals = b->count = b->waiter_count = 0;
    b->popc = b->any = 0;
    b->all = UINT32_MAX;
    b->busy = false;
    b->first = b->other = NULL;
    if (b->vector)
        memset(b->vector, 0, b->vector_size * sizeof *b->vector);
}

void sync_begin(struct sync_block *sync, struct block *block)
{
    sync->block = block;
    for (int i = 0; i < BARRIERS; i++)
        start_again(&sync->barriers[i]);
    mbarriers_begin(sync->mbarriers, block);
}

struct mbarriers *sync_mbarriers(struct sync_block *sync)
{
    return sync->mbarriers;
}

/* ---- completion */

static bool complete(const struct block *block, const struct barrier *b, const struct warp *leaving,
                     uint32_t leaving_mask)
{
    if (!b->busy)
        return false;
    if (b->count)
        return b->arrivals >= b->count;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        const struct warp *w = &block->warps[i];
        uint32_t live = w == leaving ? w->live & ~leaving_mask : w->live;
        if (live & ~b->arrived[i])
            return false;
    }
    return true;
}

static void order(struct block *block, struct barrier *b)
{
    struct clock *clock = &block->hazard->clock;
    bool everyone = true;
    for (uint32_t i = 0; i < block->warp_count && everyone; i++)
        everyone = !(block->warps[i].live & ~b->syncing[i]);
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (b->syncing[i])
            hazard_new_interval(block->warps[i].hazard);
    if (everyone || !b->count || !b->vector) {
        clock_block_barrier(clock);
        return;
    }
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (b->syncing[i])
            clock_acquire(clock, i, b->syncing[i], block->warps[i].live, b->vector);
}

static uint32_t result_of(const struct barrier *b, unsigned kind)
{
    switch (kind & 7u) {
    case BARRIER_POPC:
        return b->popc;
    case BARRIER_AND:
        return b->all;
    case BARRIER_OR:
        return b->any;
    default:
        return 0;
    }
}

static void report_pair(struct barrier *b, struct warp *w)
{
    const struct ptx_line *lines = w->worker->run->func->module->lines;
    if (lines[b->other->line].line < lines[b->first->line].line) {
        const struct op *op = b->first;
        uint32_t thread = b->first_thread;
        b->first = b->other;
        b->first_thread = b->other_thread;
        b->other = op;
        b->other_thread = thread;
    }
    struct hazard_finding finding = {
        .kind = b->first_thread / 32 == b->other_thread / 32 ? PTX_HAZARD_DIVERGENT_BARRIER
                                                             : PTX_HAZARD_BARRIER_MISMATCH,
        .reason = REASON_PAIRED,
        .line = b->first->line,
        .other_line = b->other->line,
        .thread = b->first_thread,
        .other = b->other_thread,
        .other_block = w->block->index,
        .space = PTX_SPACE_NONE,
    };
    hazard_add(w, &finding);
}

/* All go on at the time of the one that came last. */
static void meet(struct block *block, const struct barrier *b)
{
    uint64_t latest = 0;
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (b->arrived[i] && timeline_now(&block->warps[i]) > latest)
            latest = timeline_now(&block->warps[i]);
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (b->syncing[i])
            timeline_wait(&block->warps[i], latest);
}

/* Wakes everybody but the path that is running; the caller lets that one pass. */
static void release(struct warp *w, struct barrier *b, const struct op *op)
{
    struct block *block = w->block;
    if (w->checks) {
        if (b->first && b->other)
            report_pair(b, w);
        order(block, b);
    }
    if (timeline_wants(block))
        meet(block, b);
    block->worker->counters.barriers++;
    for (uint32_t i = 0; i < b->waiter_count; i++) {
        const struct waiter *waiter = &b->waiters[i];
        timeline_add(waiter->w, (struct ptx_event){.kind = PTX_EVENT_RELEASE,
                                                   .line = waiter->op->line,
                                                   .other_step = waiter->since});
        path_wake(waiter->w, waiter->path, result_of(b, waiter->kind));
    }
    (void)op;
    start_again(b);
}

/* ---- arrival */

static bool same_place(const struct block *block, const struct op *a, const struct op *b)
{
    const struct hazard_run *run = block->worker->run->hazard;
    if (a == b || !a->line || !b->line)
        return true;
    return run->student_line[a->line] == run->student_line[b->line];
}

static void count_arrival(struct warp *w, struct barrier *b, const struct op *op, unsigned kind,
                          uint32_t predicate)
{
    uint32_t lanes = w->mask, thread = w->id * 32 + (uint32_t)__builtin_ctz(lanes);
    b->busy = true;
    b->arrived[w->id] |= lanes;
    b->arrived_warps++;
    if ((kind & 7) != BARRIER_ARRIVE)
        b->syncing[w->id] |= lanes;
    b->arrivals += lanes == w->live ? WARP_LANES : (uint32_t)__builtin_popcount(lanes);
    b->popc += (uint32_t)__builtin_popcount(predicate & lanes);
    b->all = b->all && (predicate & lanes) == lanes ? UINT32_MAX : 0;
    b->any = b->any || (predicate & lanes) ? UINT32_MAX : 0;
    if (!b->first) {
        b->first = op;
        b->first_thread = thread;
    } else if (!b->count && !b->other && !same_place(w->block, b->first, op)) {
        b->other = op;
        b->other_thread = thread;
    }
}

static void report_counts(struct warp *w, const struct barrier *b, const struct op *op, uint32_t id,
                          uint32_t count)
{
    if (!w->checks)
        return;
    const uint32_t all = w->block->thread_count; /* a barrier without a number means all of them */
    struct hazard_finding finding = {
        .kind = PTX_HAZARD_BARRIER_MISMATCH,
        .reason = REASON_COUNT_WRONG,
        .line = op->line,
        .other_line = b->first ? b->first->line : 0,
        .thread = w->id * 32 + (uint32_t)__builtin_ctz(w->mask),
        .other = b->first_thread,
        .other_block = w->block->index,
        .space = PTX_SPACE_NONE,
        .note = {id, count ? count : all, b->count ? b->count : all, 0},
    };
    hazard_add(w, &finding);
}

enum sync_result sync_barrier(struct warp *w, const struct op *op, unsigned kind, uint32_t id,
                              uint32_t count, uint32_t predicate)
{
    struct block *block = w->block;
    if (id >= BARRIERS) {
        stop_block(w, op, PTX_FAULT, 32,
                   _("barrier %u does not exist: a block has barriers 0 to 15"), id);
        return SYNC_WAIT;
    }
    struct barrier *b = &block->sync->barriers[id];
    if (b->busy && b->count != count)
        report_counts(w, b, op, id, count);
    else
        b->count = count;
    count_arrival(w, b, op, kind, predicate);
    if (w->checks && b->count) {
        struct clock *clock = &block->hazard->clock;
        if (b->vector_size < clock_stride(clock)) {
            free(b->vector);
            b->vector_size = clock_stride(clock);
            b->vector = mem_zero(b->vector_size, sizeof *b->vector);
        }
        observed_take(w, w->mask);
        clock_release(clock, w->id, w->mask, b->vector);
    }
    if (w->checks)
        observed_take_blocks(w);
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_ARRIVE, .line = op->line, .value = id});
    if (complete(block, b, NULL, 0)) {
        w->paths[w->current].value = result_of(b, kind);
        release(w, b, op);
        timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_RELEASE,
                                           .line = op->line,
                                           .other_step = timeline_now(w)});
        return SYNC_PASS;
    }
    if ((kind & 7) == BARRIER_ARRIVE)
        return SYNC_PASS;
    if (b->waiter_count == b->waiter_capacity) {
        b->waiter_capacity = b->waiter_capacity ? 2 * b->waiter_capacity : 32;
        b->waiters = mem_grow(b->waiters, b->waiter_capacity, sizeof *b->waiters);
    }
    b->waiters[b->waiter_count++] =
        (struct waiter){w, w->current, w->mask, op, kind, timeline_now(w)};
    return SYNC_WAIT;
}

void sync_exit(struct warp *w, uint32_t mask)
{
    struct sync_block *sync = w->block->sync;
    for (int i = 0; i < BARRIERS; i++)
        if (complete(w->block, &sync->barriers[i], w, mask))
            release(w, &sync->barriers[i], NULL);
}

/* ---- nobody can go on */

static struct barrier *fullest(struct sync_block *sync)
{
    struct barrier *best = NULL;
    for (int i = 0; i < BARRIERS; i++) {
        struct barrier *b = &sync->barriers[i];
        if (b->waiter_count && (!best || b->arrivals > best->arrivals))
            best = b;
    }
    return best;
}

/* A live thread that has not arrived, and the barrier that it waits at instead, if any. */
static uint32_t find_missing(const struct block *block, const struct barrier *b,
                             const struct waiter **instead)
{
    uint32_t found = NOBODY;
    *instead = NULL;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        uint32_t missing = block->warps[i].live & ~b->arrived[i];
        if (!missing)
            continue;
        if (found == NOBODY || b->arrived[i]) /* a lane next to one that waits explains most */
            found = i * 32 + (uint32_t)__builtin_ctz(missing);
        if (b->arrived[i])
            break;
    }
    for (int k = 0; k < BARRIERS && found != NOBODY; k++) {
        const struct barrier *other = &block->sync->barriers[k];
        for (uint32_t i = 0; other != b && i < other->waiter_count; i++)
            if (other->waiters[i].w->id == found / 32 &&
                other->waiters[i].lanes >> (found & 31) & 1)
                *instead = &other->waiters[i];
    }
    return found;
}

static uint32_t count_missing(const struct block *block, const struct barrier *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->warp_count; i++)
        count += (uint32_t)__builtin_popcount(block->warps[i].live & ~b->arrived[i]);
    return count;
}

bool sync_stuck(struct block *block)
{
    struct sync_block *sync = block->sync;
    struct barrier *b = fullest(sync);
    if (mbarriers_stuck(sync->mbarriers))
        return false;
    if (!b) {
        stop_block(&block->warps[0], NULL, PTX_DEADLOCK, 32,
                   _("no thread of the block can go on: each waits for another one"));
        return false;
    }
    const struct waiter *at = &b->waiters[0], *instead;
    uint32_t missing = find_missing(block, b, &instead);
    uint32_t id = (uint32_t)(b - sync->barriers);
    bool near = missing != NOBODY && b->arrived[missing / 32];
    struct hazard_finding finding = {
        .kind = near && !b->count && !instead ? PTX_HAZARD_DIVERGENT_BARRIER
                                              : PTX_HAZARD_BARRIER_MISMATCH,
        .reason = b->count ? REASON_COUNT_WRONG : REASON_MISSING,
        .line = at->op->line,
        .other_line = instead ? instead->op->line : 0,
        .thread = at->w->id * 32 + (uint32_t)__builtin_ctz(at->lanes),
        .other = missing,
        .other_block = block->index,
        .space = PTX_SPACE_NONE,
        .note = {id, b->arrivals, b->count, count_missing(block, b)},
    };
    if (at->w->checks)
        hazard_add(at->w, &finding);
    if (near && !b->count && !instead) {
        release(at->w, b, at->op);
        return true;
    }
    if (b->count)
        stop_block(at->w, at->op, PTX_DEADLOCK, (unsigned)__builtin_ctz(at->lanes),
                   _("deadlock: barrier %u waits for %u threads and only %u have arrived; no other "
                     "thread can go on"),
                   id, b->count, b->arrivals);
    else
        stop_block(at->w, at->op, PTX_DEADLOCK, (unsigned)__builtin_ctz(at->lanes),
                   _("deadlock: %u threads wait at this barrier for %u that never come"),
                   b->arrivals, count_missing(block, b));
    return false;
}
