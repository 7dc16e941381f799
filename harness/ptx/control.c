/* Paths and joins. Invariants: every living lane is in exactly one path or has arrived at exactly
 * one join; a join's `expected` lanes are those arrived plus those of the paths below it. */
#include "harness/ptx/control.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"
#include "harness/ptx/handlers.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/sync.h"

#include <string.h>

static struct path *current(struct warp *w)
{
    return &w->paths[w->current];
}

static void switch_to(struct warp *w, unsigned index)
{
    struct path *path = &w->paths[index];
    w->current = index;
    w->active = w->mask = path->mask;
    w->frame = path->frame;
    w->regs = path->frame->regs;
}

static unsigned new_path(struct warp *w, const struct op *pc, uint32_t mask, struct frame *frame,
                         int32_t join)
{
    unsigned i = 0;
    while (i < WARP_LANES - 1 && w->paths[i].state != PATH_FREE)
        i++;
    w->paths[i] =
        (struct path){.pc = pc, .mask = mask, .frame = frame, .join = join, .state = PATH_READY};
    return i;
}

static int32_t new_join(struct warp *w, const struct join *join)
{
    int32_t index = w->join_free;
    if (index >= 0) {
        w->join_free = w->joins[index].next_free;
    } else {
        if (w->join_count == w->join_capacity) {
            w->join_capacity = w->join_capacity ? w->join_capacity * 2 : 16;
            w->joins = mem_grow(w->joins, w->join_capacity, sizeof *w->joins);
        }
        index = (int32_t)w->join_count++;
    }
    w->joins[index] = *join;
    return index;
}

static void free_join(struct warp *w, int32_t index)
{
    w->joins[index].next_free = w->join_free;
    w->join_free = index;
}

/* The path that runs next, preferring those below `join`, so that lanes meet again soon. */
static const struct op *pick(struct warp *w, int32_t join)
{
    int found = -1;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        if (w->paths[i].state != PATH_READY)
            continue;
        if (w->paths[i].join == join) {
            found = (int)i;
            break;
        }
        if (found < 0)
            found = (int)i;
    }
    if (found < 0)
        return NULL;
    switch_to(w, (unsigned)found);
    return w->paths[found].pc;
}

void path_start(struct warp *w, struct frame *frame)
{
    memset(w->paths, 0, sizeof w->paths);
    w->join_count = 0;
    w->join_free = -1;
    w->frame = frame;
    switch_to(w, new_path(w, frame->func->ops, w->live, frame, -1));
}

const struct op *path_resume(struct warp *w)
{
    struct path *path = current(w);
    if (path->state == PATH_READY) {
        switch_to(w, w->current);
        return path->pc;
    }
    return pick(w, -1);
}

bool path_any_ready(const struct warp *w)
{
    for (unsigned i = 0; i < WARP_LANES; i++) {
        if (w->paths[i].state == PATH_READY)
            return true;
    }
    return false;
}

/* Lanes that have arrived at a join above the current path go on without the others. Volta's
 * threads may wait for each other inside a warp, so a lane that spins must not hold up the one it
 * waits for. */
static bool release_waiting(struct warp *w)
{
    for (int32_t index = current(w)->join; index >= 0; index = w->joins[index].parent) {
        struct join *j = &w->joins[index];
        if (!j->arrived)
            continue;
        const struct op *pc = j->at ? j->at : j->frame->return_to;
        struct frame *frame = j->at ? j->frame : j->frame->caller;
        uint32_t mask = j->arrived;
        j->expected &= ~mask;
        j->arrived = 0;
        new_path(w, pc, mask, frame, j->parent);
        return true;
    }
    return false;
}

enum { POLLING_SLICES = 2 }; /* full slices of polling before others are let past a join */

const struct op *path_yield(struct warp *w, const struct op *op)
{
    struct path *path = current(w);
    path->pc = op;
    path->spent = w->polled ? path->spent + 1 : 0;
    w->polled = false;
    if (path->spent >= POLLING_SLICES && release_waiting(w))
        path->spent = 0;
    for (unsigned k = 1; k < WARP_LANES; k++) {
        unsigned i = (w->current + k) % WARP_LANES;
        if (w->paths[i].state == PATH_READY) {
            switch_to(w, i);
            break;
        }
    }
    return NULL;
}

const struct op *path_park(struct warp *w, const struct op *op, uint32_t members)
{
    struct path *path = current(w);
    path->pc = op;
    path->state = PATH_PARKED;
    path->members = members;
    path->woken = false;
    return pick(w, path->join);
}

void path_wake(struct warp *w, unsigned index, uint32_t value)
{
    struct path *path = &w->paths[index];
    path->state = PATH_READY;
    path->woken = true;
    path->value = value;
    path->members = 0;
}

/* The join below which a branch at the end of `block` puts its two sides. */
static int32_t join_for(struct warp *w, const struct code_block *block)
{
    int32_t above = current(w)->join;
    if (!block->join)
        return above;
    if (above >= 0 && w->joins[above].at == block->join && w->joins[above].frame == w->frame)
        return above;
    struct join join = {
        .at = block->join, .frame = w->frame, .expected = w->active, .parent = above};
    return new_join(w, &join);
}

const struct op *path_branch(struct warp *w, const struct op *op, uint32_t taken)
{
    const struct code_block *block = op->extra;
    uint32_t other = w->active & ~taken;
    int32_t join = join_for(w, block);
    struct path *path = current(w);
    w->worker->divergent[block->id]++;
    path->join = join;
    bool taken_waits = join >= 0 && w->joins[join].at == op->target && block->join;
    bool other_waits = join >= 0 && w->joins[join].at == op + 1 && block->join;
    if (taken_waits) {
        w->joins[join].arrived |= taken;
        path->mask = w->active = w->mask = other;
        return op + 1;
    }
    path->mask = w->active = w->mask = taken;
    if (other_waits)
        w->joins[join].arrived |= other;
    else
        new_path(w, op + 1, other, w->frame, join);
    return op->target;
}

const struct op *path_scatter(struct warp *w, const struct op *op, const struct op *const *targets,
                              const uint32_t *masks, unsigned count)
{
    const struct code_block *block = op->extra;
    int32_t join = join_for(w, block);
    struct path *path = current(w);
    path->join = join;
    path->pc = targets[0];
    path->mask = masks[0];
    w->worker->divergent[block->id] += count > 1;
    for (unsigned i = 1; i < count; i++)
        new_path(w, targets[i], masks[i], w->frame, join);
    switch_to(w, w->current);
    return targets[0];
}

const struct op *path_part(struct warp *w, const struct op *op, const uint32_t *masks,
                           unsigned count)
{
    struct path *path = current(w);
    int32_t join = path->join;
    uint32_t idle = w->active & ~w->mask; /* switched off by the guard */
    if (idle)
        new_path(w, op + 1, idle, w->frame, join);
    for (unsigned i = 1; i < count; i++)
        new_path(w, op, masks[i], w->frame, join);
    path->pc = op;
    path->mask = masks[0];
    switch_to(w, w->current);
    return op;
}

/* A join all of whose lanes have arrived: the lanes go on as the path `index`. */
static void complete(struct warp *w, int32_t join, unsigned index)
{
    struct join *j = &w->joins[join];
    struct path *path = &w->paths[index];
    bool is_return = !j->at;
    *path = (struct path){.pc = j->at,
                          .mask = j->expected,
                          .frame = j->frame,
                          .join = j->parent,
                          .state = PATH_READY};
    if (is_return) { /* j->frame is the callee's */
        path->pc = j->frame->return_to;
        path->frame = j->frame->caller;
        frame_close(w, j->frame);
    }
    free_join(w, join);
}

const struct op *path_arrive(struct warp *w, const struct op *op)
{
    struct path *path = current(w);
    for (;;) {
        int32_t join = path->join;
        if (join < 0 || w->joins[join].at != op || w->joins[join].frame != w->frame)
            return op;
        struct join *j = &w->joins[join];
        j->arrived |= path->mask;
        if (j->arrived != j->expected) {
            path->state = PATH_FREE;
            return pick(w, join);
        }
        complete(w, join, w->current);
        switch_to(w, w->current);
    }
}

/* The current path has no lanes left: whoever waited only for them goes on. */
static const struct op *path_ended(struct warp *w, int32_t join)
{
    struct path *path = current(w);
    path->state = PATH_FREE;
    while (join >= 0) {
        struct join *j = &w->joins[join];
        if (j->expected && j->arrived == j->expected) {
            complete(w, join, w->current);
            switch_to(w, w->current);
            return current(w)->pc;
        }
        if (j->expected)
            break;
        int32_t parent = j->parent;
        if (!j->at)
            frame_close(w, j->frame);
        free_join(w, join);
        join = parent;
    }
    return pick(w, join);
}

const struct op *path_exit(struct warp *w, const struct op *op)
{
    uint32_t leaving = w->mask;
    struct path *path = current(w);
    hazard_warp_exit(w, op, leaving);
    sync_exit(w, leaving);
    w->live &= ~leaving;
    for (int32_t j = path->join; j >= 0; j = w->joins[j].parent)
        w->joins[j].expected &= ~leaving;
    path->mask &= ~leaving;
    if (path->mask) {
        w->active = w->mask = path->mask;
        return op + 1;
    }
    return path_ended(w, path->join);
}

/* Words of .param space from one activation to another, for the lanes in mask. */
static void copy_params(struct frame *to, const struct param_place *places,
                        const struct frame *from, const struct param_place *sources, uint32_t count,
                        uint32_t mask)
{
    for (uint32_t c = 0; c < count; c++) {
        for (uint32_t word = 0; word < (sources[c].bytes + 3) / 4; word++) {
            size_t d_word = places[c].offset / 4 + word, s_word = sources[c].offset / 4 + word;
            uint32_t *d = (uint32_t *)(void *)(to->params + d_word * 128);
            const uint32_t *s = (const uint32_t *)(const void *)(from->params + s_word * 128);
            for (unsigned i = 0; i < WARP_LANES; i++)
                d[i] = mask >> i & 1 ? s[i] : d[i];
        }
    }
}

/* Lanes that return wait at the call's join for the others of the call. */
const struct op *path_return(struct warp *w, const struct op *op)
{
    uint32_t leaving = w->mask;
    struct path *path = current(w);
    int32_t j = path->join;
    while (j >= 0 && w->joins[j].at) {
        w->joins[j].expected &= ~leaving;
        j = w->joins[j].parent;
    }
    if (j < 0) /* the entry's own return */
        return path_exit(w, op);
    const struct call_site *site = w->frame->site;
    copy_params(w->frame->caller, site->results, w->frame, w->frame->func->results,
                site->result_count, leaving);
    w->joins[j].arrived |= leaving;
    path->mask &= ~leaving;
    if (path->mask) {
        w->active = w->mask = path->mask;
        return op + 1;
    }
    return path_ended(w, path->join);
}

void path_split_off(struct warp *w, const struct op *op, uint32_t mask)
{
    struct path *path = current(w);
    new_path(w, op, path->mask & ~mask, path->frame, path->join);
    path->mask = w->active = w->mask = path->mask & mask;
}

const struct op *path_call(struct warp *w, const struct op *op, const struct func *callee)
{
    const struct call_site *site = op->extra;
    struct path *path = current(w);
    struct frame *frame = frame_open(w, callee, w->frame);
    if (!frame)
        return stop_block(w, op, PTX_FAULT, (unsigned)__builtin_ctz(w->mask),
                          _("stack overflow: %s is called %u levels deep"), callee->name,
                          w->frame->depth + 1);
    frame->return_to = op + 1;
    frame->site = site;
    copy_params(frame, callee->params, w->frame, site->arguments, site->argument_count, w->active);
    struct join join = {.frame = frame, .expected = w->active, .parent = path->join};
    path->join = new_join(w, &join);
    path->frame = frame;
    switch_to(w, w->current);
    return callee->ops;
}

/* ---- warp-wide operations */

/* Lanes of other paths that wait on the same operation (for bar.warp.sync: on any with these
 * members). */
/* Does a parked path wait for the same thing? __syncwarp() may be executed at several places as
 * long as the masks agree; everything else has to be one and the same instruction. */
static bool meets(const struct warp *w, const struct path *path, const struct op *op,
                  uint32_t members)
{
    if (path->state != PATH_PARKED || path->members != members)
        return false;
    if (op->body == H_bar_warp_sync)
        return path->pc->body == H_bar_warp_sync;
    return path->pc == op && path->frame == w->frame;
}

static uint32_t waiting_with(const struct warp *w, const struct op *op, uint32_t members)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        const struct path *path = &w->paths[i];
        if (meets(w, path, op, members))
            mask |= path->mask;
    }
    return mask;
}

bool collective_begin(struct warp *w, const struct op *op, uint32_t members, const struct op **next)
{
    struct path *path = current(w);
    uint32_t needed = members & w->live & ~w->active;
    if (!needed)
        return true;
    if (path->woken) { /* given up waiting: go on with those who are there */
        path->woken = false;
        return true;
    }
    uint32_t waiting = waiting_with(w, op, members);
    if (needed & ~waiting) {
        *next = path_park(w, op, members);
        return false;
    }
    for (unsigned i = 0; i < WARP_LANES; i++) {
        struct path *other = &w->paths[i];
        if (meets(w, other, op, members)) {
            other->state = PATH_READY;
            other->members = 0;
            other->pc++;
        }
    }
    w->active = w->mask = path->mask | waiting;
    return true;
}

const struct op *collective_end(struct warp *w, const struct op *op)
{
    w->active = w->mask = current(w)->mask;
    return op + 1;
}

bool collective_release(struct block *block)
{
    for (uint32_t k = 0; k < block->warp_count; k++) {
        struct warp *w = &block->warps[k];
        for (unsigned i = 0; i < WARP_LANES; i++) {
            struct path *path = &w->paths[i];
            if (path->state != PATH_PARKED || !path->members)
                continue;
            uint32_t members = path->members, here = 0;
            for (unsigned other = 0; other < WARP_LANES; other++) {
                struct path *p = &w->paths[other];
                if (p->state == PATH_PARKED && p->pc == path->pc && p->frame == path->frame)
                    here |= p->mask;
            }
            hazard_absent_lane(w, path->pc, members, members & w->live & ~here, here & ~members);
            path_wake(w, i, 0);
            return true;
        }
    }
    return false;
}

/* ---- activations */

void path_finish(struct warp *w)
{
    while (w->frame) {
        struct frame *caller = w->frame->caller;
        frame_close(w, w->frame);
        w->frame = caller;
    }
}
