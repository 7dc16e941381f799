/* Asynchronous copies and mbarriers: operands are gathered here, async.c and sync.c do the rest. */
#include "harness/ptx/handlers.h"

#include "harness/base/msg.h"

#include "harness/ptx/async.h"
#include "harness/ptx/control.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/mem.h"
#include "harness/ptx/sync.h"

/* Shared offsets from a 32-bit (or shared-window generic) register plus an offset. */
static void shared_addresses(const struct warp *w, u32 offset, unsigned bytes, s64 add,
                             u32 out[WARP_LANES])
{
    for (unsigned i = 0; i < WARP_LANES; i++) {
        if (bytes == 8) {
            u64 a = reg64(w, offset)[i] + (u64)add;
            bool inside = !(a >> 32) || generic_space(a) == PTX_SPACE_SHARED;
            out[i] = inside ? (u32)a : UINT32_MAX;
        } else {
            out[i] = reg32(w, offset)[i] + (u32)add;
        }
    }
}

static void lanes32(const struct warp *w, u32 offset, u32 out[WARP_LANES])
{
    memcpy(out, SRC(u32, offset), WARP_LANES * sizeof *out);
}

/* Bounds and alignment of 8-byte mbarrier objects. */
static bool check_mbarriers(struct warp *w, const struct op *op, const u32 a[WARP_LANES])
{
    EACH(w->mask)
    {
        if ((u64)a[i] + 8 > w->block->shared_bytes)
            return fault_bounds(w, op, PTX_SPACE_SHARED, i, a[i], 8) != NULL;
        if (a[i] & 7)
            return fault_alignment(w, op, PTX_SPACE_SHARED, i, a[i], 8) != NULL;
    }
    return true;
}

/* a: destination (mode2 bytes, imm), b: source (64-bit, offset e), width: size, c: source bytes or
 * 0; mode 1: c is the ignore-src predicate. */
HANDLER(cp_async)
{
    u32 dst[WARP_LANES], bytes[WARP_LANES];
    u64 src[WARP_LANES];
    shared_addresses(w, op->a, op->mode2, op->imm, dst);
    for (unsigned i = 0; i < WARP_LANES; i++)
        src[i] = reg64(w, op->b)[i] + (u64)(s64)(s32)op->e;
    if (op->c && op->mode == 1) {
        u32 ignore = *pred(w, op->c);
        if (op->flags & OP_NEG_C)
            ignore = ~ignore;
        for (unsigned i = 0; i < WARP_LANES; i++)
            bytes[i] = ignore >> i & 1 ? 0 : op->width;
    } else if (op->c) {
        lanes32(w, op->c, bytes);
        EACH(w->mask)
        {
            if (bytes[i] > op->width)
                return stop_block(w, op, PTX_FAULT, i,
                                  _("cp.async of %u bytes with a source size of %u"), op->width,
                                  bytes[i]);
        }
    }
    return async_copy(w, op, w->mask, dst, src, op->width, op->c ? bytes : NULL) ? op + 1 : NULL;
}

HANDLER(cp_async_commit)
{
    async_commit(w, op, w->mask);
    return op + 1;
}

HANDLER(cp_async_wait)
{
    async_wait(w, op, w->mask, (u32)op->imm);
    return w->worker->stopped ? NULL : op + 1;
}

HANDLER(cp_async_mbarrier)
{
    u32 a[WARP_LANES];
    shared_addresses(w, op->a, op->mode2, op->imm, a);
    if (!check_mbarriers(w, op, a))
        return NULL;
    return async_mbarrier_arrive(w, op, w->mask, a, op->mode) ? op + 1 : NULL;
}

HANDLER(bulk_load)
{
    u32 dst[WARP_LANES], bytes[WARP_LANES], bar[WARP_LANES];
    u64 src[WARP_LANES];
    shared_addresses(w, op->a, op->mode2, op->imm, dst);
    for (unsigned i = 0; i < WARP_LANES; i++)
        src[i] = reg64(w, op->b)[i] + (u64)(s64)(s32)op->list[0];
    lanes32(w, op->c, bytes);
    shared_addresses(w, op->e, op->mode, (s64)(s32)op->list[1], bar);
    if (!check_mbarriers(w, op, bar))
        return NULL;
    return async_bulk_load(w, op, w->mask, dst, src, bytes, bar) ? op + 1 : NULL;
}

HANDLER(bulk_store)
{
    u32 src[WARP_LANES], bytes[WARP_LANES];
    u64 dst[WARP_LANES];
    for (unsigned i = 0; i < WARP_LANES; i++)
        dst[i] = reg64(w, op->a)[i] + (u64)op->imm;
    shared_addresses(w, op->b, op->mode2, (s64)(s32)op->list[0], src);
    lanes32(w, op->c, bytes);
    return async_bulk_store(w, op, w->mask, dst, src, bytes) ? op + 1 : NULL;
}

HANDLER(bulk_commit)
{
    async_bulk_commit(w, op, w->mask);
    return op + 1;
}

HANDLER(bulk_wait)
{
    async_bulk_wait(w, op, w->mask, (u32)op->imm, op->mode);
    return w->worker->stopped ? NULL : op + 1;
}

/* ---- mbarrier */

#define MBARRIER()                                                                                 \
    u32 a[WARP_LANES];                                                                             \
    shared_addresses(w, op->a, op->mode2, op->imm, a);                                             \
    if (!check_mbarriers(w, op, a))                                                                \
    return NULL

HANDLER(mbarrier_init)
{
    MBARRIER();
    sync_mbarrier_init(w, op, w->mask, a, SRC(u32, op->b));
    return w->worker->stopped ? NULL : op + 1;
}

HANDLER(mbarrier_inval)
{
    MBARRIER();
    sync_mbarrier_inval(w, op, w->mask, a);
    return w->worker->stopped ? NULL : op + 1;
}

/* mode: enum mbarrier_arrive; b: count, c: tx bytes, each 0 when absent; d[0]: state or 0. */
HANDLER(mbarrier_arrive)
{
    MBARRIER();
    ALIGNED u64 state[WARP_LANES] = {0};
    sync_mbarrier_arrive(w, op, w->mask, a, op->b ? SRC(u32, op->b) : NULL,
                         op->c ? SRC(u32, op->c) : NULL, state, op->mode);
    if (w->worker->stopped)
        return NULL;
    if (op->d[0])
        put64(w, op->d[0], state);
    return op + 1;
}

/* mode: 0 expect_tx, 1 complete_tx */
HANDLER(mbarrier_tx)
{
    MBARRIER();
    if (op->mode)
        sync_mbarrier_complete_tx(w, op, w->mask, a, SRC(u32, op->b));
    else
        sync_mbarrier_expect_tx(w, op, w->mask, a, SRC(u32, op->b));
    return w->worker->stopped ? NULL : op + 1;
}

/* mode: bit 0 parity, bit 1 try_wait. b: state or parity. A failed test gives the turn away, so
 * that whoever is waited for can run. */
HANDLER(mbarrier_test)
{
    MBARRIER();
    u32 done = op->mode & 1 ? sync_mbarrier_test_parity(w, op, w->mask, a, SRC(u32, op->b))
                            : sync_mbarrier_test(w, op, w->mask, a, SRC(u64, op->b));
    if (w->worker->stopped)
        return NULL;
    pred_store(w, op->d[0], done);
    if ((done & w->mask) == w->mask)
        return op + 1;
    w->yield = true;
    return block_turn_over(w, op + 1);
}

HANDLER(mbarrier_pending_count)
{
    ALIGNED u32 count[WARP_LANES] = {0};
    sync_mbarrier_pending_count(w, op, w->mask, SRC(u64, op->a), count);
    put32(w, op->d[0], count);
    return op + 1;
}
