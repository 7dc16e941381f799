/* Loads and stores of local, const and parameter memory and of generic addresses; address
 * arithmetic. */
#include "harness/ptx/access.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/mem.h"

/* ---- local */

static const struct op *check_local(struct warp *w, const struct op *op, u32 mask,
                                    const u32 a[WARP_LANES])
{
    u32 bytes = access_bytes(op);
    u32 end = w->frame->local_base + w->frame->func->local_bytes;
    EACH(mask)
    {
        if (unlikely((u64)a[i] + bytes > end))
            return fault_bounds(w, op, PTX_SPACE_LOCAL, i, a[i], bytes);
        if (unlikely(a[i] & (bytes - 1)))
            return fault_alignment(w, op, PTX_SPACE_LOCAL, i, a[i], bytes);
    }
    return op;
}

static const struct op *load_local_lanes(struct warp *w, const struct op *op, u32 mask,
                                         const u32 a[WARP_LANES])
{
    u32 bytes = access_bytes(op);
    uint8_t flat[32];
    if (unlikely(!check_local(w, op, mask, a)))
        return NULL;
    hazard_local_read(w, op, mask, a, bytes);
    EACH(mask)
    {
        words_read(w->local, a[i], i, flat, bytes);
        load_lane(w, op, i, flat);
    }
    return op + 1;
}

static const struct op *store_local_lanes(struct warp *w, const struct op *op, u32 mask,
                                          const u32 a[WARP_LANES])
{
    u32 bytes = access_bytes(op);
    uint8_t flat[32];
    if (unlikely(!check_local(w, op, mask, a)))
        return NULL;
    hazard_local_write(w, op, mask, a, bytes);
    EACH(mask)
    {
        store_lane(w, op, i, flat);
        words_write(w->local, a[i], i, flat, bytes);
    }
    return op + 1;
}

HANDLER(ld_local)
{
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    return load_local_lanes(w, op, w->mask, a);
}

HANDLER(st_local)
{
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    return store_local_lanes(w, op, w->mask, a);
}

/* ---- const and parameters */

static const struct op *load_flat(struct warp *w, const struct op *op, u32 mask,
                                  const u32 a[WARP_LANES], const uint8_t *base, u64 limit,
                                  enum ptx_space space)
{
    u32 bytes = access_bytes(op);
    EACH(mask)
    {
        if (unlikely((u64)a[i] + bytes > limit))
            return fault_bounds(w, op, space, i, a[i], bytes);
        if (unlikely(a[i] & (bytes - 1)))
            return fault_alignment(w, op, space, i, a[i], bytes);
        load_lane(w, op, i, base + a[i]);
    }
    return op + 1;
}

HANDLER(ld_const)
{
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    const struct run *run = w->worker->run;
    return load_flat(w, op, w->mask, a, run->constants, run->constant_bytes, PTX_SPACE_CONST);
}

/* Kernel parameters: the same for every lane, at op->imm. */
HANDLER(ld_param_entry)
{
    const struct ptx_launch *launch = w->worker->run->launch;
    u32 bytes = access_bytes(op);
    if (unlikely((u64)op->imm + bytes > launch->param_bytes))
        return fault_bounds(w, op, PTX_SPACE_PARAM, 0, (u64)op->imm, bytes);
    const uint8_t *from = (const uint8_t *)launch->params + op->imm;
    for (unsigned v = 0; v < op->vec; v++) {
        u64 value = widen(op, from + v * op->width);
        if (op->mode == 8)
            put64_same(w, op->d[v], value);
        else
            put32_same(w, op->d[v], op->mode == 2 ? (u32)value & 0xffff : (u32)value);
    }
    return op + 1;
}

HANDLER(ld_param_address)
{
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    const struct ptx_launch *launch = w->worker->run->launch;
    return load_flat(w, op, w->mask, a, launch->params, launch->param_bytes, PTX_SPACE_PARAM);
}

/* .param space of an activation: arguments and results of calls, at op->imm. */
HANDLER(ld_param_frame)
{
    uint8_t flat[32];
    EACH(w->mask)
    {
        words_read(w->frame->params, (u32)op->imm, i, flat, access_bytes(op));
        load_lane(w, op, i, flat);
    }
    return op + 1;
}

HANDLER(st_param_frame)
{
    uint8_t flat[32];
    EACH(w->mask)
    {
        store_lane(w, op, i, flat);
        words_write(w->frame->params, (u32)op->imm, i, flat, access_bytes(op));
    }
    return op + 1;
}

/* ---- generic */

/* Lanes of `mask` whose addresses lie in the same window as the first one's. */
static u32 same_space(const u64 a[WARP_LANES], u32 mask, enum ptx_space *space)
{
    u32 same = 0;
    *space = generic_space(a[__builtin_ctz(mask)]);
    EACH(mask)
    same |= (u32)(generic_space(a[i]) == *space) << i;
    return same;
}

static const struct op *load_generic_part(struct warp *w, const struct op *op, u32 mask,
                                          const u64 a[WARP_LANES], enum ptx_space space)
{
    const struct run *run = w->worker->run;
    ALIGNED u32 low[WARP_LANES];
    LANES low[i] = (u32)a[i];
    switch (space) {
    case PTX_SPACE_SHARED:
        return ISA(load_shared_lanes)(w, op, mask, low);
    case PTX_SPACE_LOCAL:
        return load_local_lanes(w, op, mask, low);
    case PTX_SPACE_CONST:
        return load_flat(w, op, mask, low, run->constants, run->constant_bytes, space);
    case PTX_SPACE_PARAM:
        return load_flat(w, op, mask, low, run->launch->params, run->launch->param_bytes, space);
    default:
        return ISA(load_global_lanes)(w, op, mask, a);
    }
}

HANDLER(ld_generic)
{
    ALIGNED u64 a[WARP_LANES];
    addresses64(w, op, a);
    for (u32 left = w->mask; left;) {
        enum ptx_space space;
        u32 part = same_space(a, left, &space);
        if (!load_generic_part(w, op, part, a, space))
            return NULL;
        left &= ~part;
    }
    return op + 1;
}

/* Volatile, relaxed and acquire loads: what a spinning thread reads (see path_yield). */
HANDLER(ld_strong)
{
    note_poll(w, op->space == PTX_SPACE_GENERIC || op->space == PTX_SPACE_GLOBAL);
    if (op->space == PTX_SPACE_GENERIC)
        return OP_NAME(ld_generic)(w, op);
    if (op->space == PTX_SPACE_SHARED)
        return OP_NAME(ld_shared_any)(w, op);
    return op->space == PTX_SPACE_LOCAL ? OP_NAME(ld_local)(w, op) : OP_NAME(ld_global_any)(w, op);
}

HANDLER(st_generic)
{
    ALIGNED u64 a[WARP_LANES];
    ALIGNED u32 low[WARP_LANES];
    addresses64(w, op, a);
    LANES low[i] = (u32)a[i];
    for (u32 left = w->mask; left;) {
        enum ptx_space space;
        u32 part = same_space(a, left, &space);
        const struct op *next;
        if (space == PTX_SPACE_SHARED)
            next = ISA(store_shared_lanes)(w, op, part, low);
        else if (space == PTX_SPACE_LOCAL)
            next = store_local_lanes(w, op, part, low);
        else if (space == PTX_SPACE_GLOBAL)
            next = ISA(store_global_lanes)(w, op, part, a);
        else
            next = fault_bounds(w, op, space, (unsigned)__builtin_ctz(part),
                                low[__builtin_ctz(part)], access_bytes(op));
        if (!next)
            return NULL;
        left &= ~part;
    }
    return op + 1;
}

/* ---- address arithmetic */

/* cvta: op->imm is the window to add (to generic) or 0 (to a space: the low half). */
UNARY(cvta_from_generic, u64, u64, op->imm ? (u32)x : x)
UNARY(cvta_to_generic, u64, u64, x + (u64)op->imm)

HANDLER(isspacep)
{
    const u64 *a = SRC(u64, op->a);
    u32 bits = 0;
    for (int i = 0; i < WARP_LANES; i++) {
        enum ptx_space space = generic_space(a[i]);
        /* The global window includes everything that is no other window. */
        bits |= (u32)(space == (enum ptx_space)op->space) << i;
    }
    pred_store(w, op->d[0], bits);
    return op + 1;
}

/* prefetch, discard, applypriority, createpolicy and the like have no visible effect. */
HANDLER(nothing)
{
    (void)w;
    return op + 1;
}
