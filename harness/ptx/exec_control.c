/* Control flow, barriers, special registers, and the loop that runs a warp. */
#include "harness/ptx/handlers.h"

#include "harness/base/msg.h"

#include "harness/ptx/control.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/host_call.h"
#include "harness/ptx/module.h"
#include "harness/ptx/sync.h"

#include <time.h>

/* ---- the head of a basic block */

static inline const struct op *enter_block(struct warp *w, const struct op *op)
{
    const struct code_block *block = op->extra;
    w->worker->block_runs[block->id]++;
    w->worker->block_lanes[block->id] += (u32)__builtin_popcount(w->active);
    w->slice -= (int32_t)block->count + 1;
    if (unlikely(w->slice < 0))
        return block_turn_over(w, op + 1);
    return op + 1;
}

HANDLER(enter)
{
    return enter_block(w, op);
}

HANDLER(enter_join)
{
    const struct op *next = path_arrive(w, op);
    return next == op ? enter_block(w, op) : next;
}

HANDLER(guard)
{
    u32 p = *pred(w, op->guard);
    if (op->flags & OP_GUARD_NOT)
        p = ~p;
    w->mask = w->active & p;
    if (!w->mask) {
        w->mask = w->active;
        return op + 1;
    }
    const struct op *next = ISA(exec_table)[op->body](w, op);
    w->mask = w->active;
    return next;
}

HANDLER(bra)
{
    return op->target;
}

HANDLER(bra_if)
{
    u32 p = *pred(w, op->guard);
    if (op->flags & OP_GUARD_NOT)
        p = ~p;
    u32 taken = w->active & p;
    if (taken == w->active)
        return op->target;
    if (!taken)
        return op + 1;
    return path_branch(w, op, taken);
}

/* op->list: offsets (in ops, from op) of the targets; c: how many; a: index register. */
HANDLER(brx)
{
    const u32 *index = SRC(u32, op->a);
    const struct op *targets[WARP_LANES];
    u32 masks[WARP_LANES], left = w->active;
    unsigned count = 0;
    while (left) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        u32 same = 0;
        if (index[lane] >= op->c)
            return stop_block(w, op, PTX_FAULT, lane,
                              _("brx.idx jumps to entry %u of a table of %u"), index[lane], op->c);
        EACH(left)
        same |= (u32)(index[i] == index[lane]) << i;
        targets[count] = op + (s32)op->list[index[lane]];
        masks[count++] = same;
        left &= ~same;
    }
    return path_scatter(w, op, targets, masks, count);
}

HANDLER(exit)
{
    return path_exit(w, op);
}

HANDLER(ret)
{
    return path_return(w, op);
}

HANDLER(call)
{
    const struct call_site *site = op->extra;
    return path_call(w, op, site->callee);
}

static bool fits(const struct func *callee, const struct call_site *site)
{
    if (callee->is_entry || !callee->ops || callee->param_count != site->argument_count ||
        callee->result_count != site->result_count)
        return false;
    for (u32 i = 0; i < site->argument_count; i++) {
        if (callee->params[i].bytes != site->arguments[i].bytes)
            return false;
    }
    for (u32 i = 0; i < site->result_count; i++) {
        if (callee->results[i].bytes != site->results[i].bytes)
            return false;
    }
    return true;
}

/* Through a pointer in register a: lanes with the same target go together, one target at a time. */
HANDLER(call_pointer)
{
    const struct module *module = w->frame->func->module->internal;
    const u64 *a = SRC(u64, op->a);
    unsigned lane = (unsigned)__builtin_ctz(w->active);
    u64 number = (a[lane] - FUNCTION_WINDOW) / 16;
    const struct func *callee = number < module->function_count ? module->decoded[number] : NULL;
    if (!callee || a[lane] % 16 || !fits(callee, op->extra))
        return stop_block(w, op, PTX_FAULT, lane, "%s",
                          _("a call through a pointer that is no such function"));
    u32 same = 0;
    EACH(w->active)
    same |= (u32)(a[i] == a[lane]) << i;
    if (same != w->active)
        path_split_off(w, op, same);
    return path_call(w, op, callee);
}

HANDLER(call_host)
{
    return host_call(w, op);
}

HANDLER(trap)
{
    return stop_block(w, op, PTX_FAULT, (unsigned)__builtin_ctz(w->mask), "%s",
                      _("the kernel ran into a trap"));
}

HANDLER(unsupported)
{
    return stop_block(w, op, PTX_UNSUPPORTED, 32, "%s", (const char *)op->extra);
}

/* ---- barriers */

/* mode: enum barrier_kind; a: id, b: thread count (0: all), c: predicate of bar.red, d[0]: result.
 * A path that waited runs the operation again when it is woken. */
HANDLER(barrier)
{
    struct path *path = &w->paths[w->current];
    if (path->woken) {
        path->woken = false;
    } else {
        unsigned lane = (unsigned)__builtin_ctz(w->mask);
        u32 id = SRC(u32, op->a)[lane], count = op->b ? SRC(u32, op->b)[lane] : 0;
        u32 p = op->c ? *pred(w, op->c) : 0;
        if (op->flags & OP_NEG_C)
            p = ~p;
        if (unlikely(id > 15))
            return stop_block(w, op, PTX_FAULT, lane,
                              _("barrier %u does not exist: a block has barriers 0 to 15"), id);
        enum sync_result result = sync_barrier(w, op, op->mode, id, count, p);
        if (w->worker->stopped)
            return NULL;
        if (result == SYNC_WAIT)
            return path_park(w, op, 0);
    }
    if (op->d[0]) {
        u32 kind = op->mode & 7u;
        if (kind == BARRIER_POPC)
            put32_same(w, op->d[0], path->value);
        else if (kind == BARRIER_AND || kind == BARRIER_OR)
            pred_store(w, op->d[0], path->value ? FULL_MASK : 0);
    }
    return op + 1;
}

HANDLER(fence)
{
    hazard_fence(w, op, w->mask);
    return op + 1;
}

/* ---- time, sleep */

HANDLER(nanosleep)
{
    w->yield = true;
    return block_turn_over(w, op + 1);
}

/* Clocks count executed instructions, so that a run can be repeated. mode: enum special. */
HANDLER(clock)
{
    u64 now = block_clock(w);
    switch (op->mode) {
    case SPECIAL_CLOCK_HI:
    case SPECIAL_GLOBALTIMER_HI:
        put32_same(w, op->d[0], (u32)(now >> 32));
        break;
    case SPECIAL_CLOCK64:
    case SPECIAL_GLOBALTIMER:
        put64_same(w, op->d[0], now);
        break;
    default:
        put32_same(w, op->d[0], (u32)now);
        break;
    }
    return op + 1;
}

/* ---- packing */

/* mov.b32 {lo,hi} and friends. mode: bytes of the packed register, vec: parts, width: bytes each.
 */
HANDLER(mov_pack)
{
    const u32 *part[4] = {0};
    const u32 sources[4] = {op->a, op->b, op->c, op->e};
    for (unsigned v = 0; v < op->vec; v++)
        part[v] = SRC(u32, sources[v]);
    if (op->mode == 8) {
        ALIGNED u64 r[WARP_LANES];
        for (unsigned i = 0; i < WARP_LANES; i++) {
            r[i] = 0;
            for (unsigned v = 0; v < op->vec; v++)
                r[i] |= (u64)part[v][i] << (8 * op->width * v);
        }
        put64(w, op->d[0], r);
        return op + 1;
    }
    ALIGNED u32 r[WARP_LANES];
    for (unsigned i = 0; i < WARP_LANES; i++) {
        r[i] = 0;
        for (unsigned v = 0; v < op->vec; v++)
            r[i] |= part[v][i] << (8 * op->width * v);
    }
    put32(w, op->d[0], r);
    return op + 1;
}

HANDLER(mov_unpack)
{
    ALIGNED u32 r[4][WARP_LANES];
    u32 keep = op->width == 4 ? UINT32_MAX : (1u << (8 * op->width)) - 1;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        u64 x = op->mode == 8 ? SRC(u64, op->a)[i] : SRC(u32, op->a)[i];
        for (unsigned v = 0; v < op->vec; v++)
            r[v][i] = (u32)(x >> (8 * op->width * v)) & keep;
    }
    for (unsigned v = 0; v < op->vec; v++) {
        if (op->d[v])
            put32(w, op->d[v], r[v]);
    }
    return op + 1;
}

/* ---- the loop */

void ISA(exec_warp)(struct warp *w)
{
    const struct op *op = path_resume(w);
    while (op)
        op = ISA(exec_table)[op->run](w, op);
#if defined(V_AVX512) || defined(V_AVX2)
    _mm256_zeroupper();
#endif
}
