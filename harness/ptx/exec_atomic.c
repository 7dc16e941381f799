/* atom and red. Lanes go one after the other, lowest first, each as a real atomic operation where
 * other threads may see the memory. op->a: address, b and c: operands, d[0]: old value (0: none
 * wanted); op->mode: enum atom_op, op->vec: enum atom_type, op->mode2: bytes of the address
 * register. */
#include "harness/ptx/handlers.h"

#include "harness/ptx/atomic.h"
#include "harness/ptx/float.h"
#include "harness/ptx/hazard_shared.h"
#include "harness/ptx/mem.h"

static inline u32 add_halves(u32 x, u32 y, bool is_bf16)
{
    double sum = is_bf16 ? add_odd(bf16_to_f32((uint16_t)x), bf16_to_f32((uint16_t)y))
                         : add_odd(f16_to_f32((uint16_t)x), f16_to_f32((uint16_t)y));
    return is_bf16 ? f64_to_bf16(sum, ROUND_RN) : f64_to_f16(sum, ROUND_RN);
}

static u64 add_values(const struct op *op, u64 old, u64 b, bool flush)
{
    switch (op->vec) {
    case ATOM_F32: {
        u32 x = (u32)old, y = (u32)b;
        if (!flush) /* shared memory keeps subnormals, global memory does not */
            return canonical_f32(bits_f32(x) + bits_f32(y));
        return flush_bits(canonical_f32(bits_f32(flush_bits(x)) + bits_f32(flush_bits(y))));
    }
    case ATOM_F64:
        return f64_bits(bits_f64(old) + bits_f64(b));
    case ATOM_F16:
    case ATOM_BF16:
        return add_halves((u32)old, (u32)b, op->vec == ATOM_BF16);
    case ATOM_F16X2:
    case ATOM_BF16X2:
        return add_halves((u32)old, (u32)b, op->vec == ATOM_BF16X2) |
               (u64)add_halves((u32)old >> 16, (u32)b >> 16, op->vec == ATOM_BF16X2) << 16;
    default:
        return old + b;
    }
}

static bool is_less(const struct op *op, u64 x, u64 y)
{
    switch (op->vec) {
    case ATOM_S32:
        return (s32)x < (s32)y;
    case ATOM_S64:
        return (s64)x < (s64)y;
    case ATOM_U64:
        return x < y;
    default:
        return (u32)x < (u32)y;
    }
}

static u64 apply(const struct op *op, u64 old, u64 b, u64 c, bool flush)
{
    switch (op->mode) {
    case ATOM_ADD:
        return add_values(op, old, b, flush);
    case ATOM_MIN:
        return is_less(op, b, old) ? b : old;
    case ATOM_MAX:
        return is_less(op, old, b) ? b : old;
    case ATOM_INC:
        return (u32)old >= (u32)b ? 0 : (u32)old + 1;
    case ATOM_DEC:
        return !(u32)old || (u32)old > (u32)b ? (u32)b : (u32)old - 1;
    case ATOM_AND:
        return old & b;
    case ATOM_OR:
        return old | b;
    case ATOM_XOR:
        return old ^ b;
    case ATOM_EXCH:
        return b;
    default:
        return old == b ? c : old;
    }
}

#define EXCHANGE_LOOP(T)                                                                           \
    do {                                                                                           \
        T *at = (T *)(void *)host;                                                                 \
        T old = __atomic_load_n(at, __ATOMIC_RELAXED), fresh;                                      \
        do                                                                                         \
            fresh = (T)apply(op, old, b, c, flush);                                                \
        while (!__atomic_compare_exchange_n(at, &old, fresh, true, __ATOMIC_ACQ_REL,               \
                                            __ATOMIC_RELAXED));                                    \
        return old;                                                                                \
    } while (0)

static u64 do_atomic(const struct op *op, uint8_t *host, u64 b, u64 c, bool flush)
{
    switch (op->width) {
    case 2:
        b &= 0xffff;
        EXCHANGE_LOOP(uint16_t);
    case 4:
        b = (u32)b;
        if (op->mode == ATOM_ADD && op->vec <= ATOM_S32)
            return __atomic_fetch_add((u32 *)(void *)host, (u32)b, __ATOMIC_ACQ_REL);
        EXCHANGE_LOOP(u32);
    default:
        EXCHANGE_LOOP(u64);
    }
}

static u64 operand(const struct warp *w, const struct op *op, u32 offset, unsigned lane)
{
    if (!offset)
        return 0;
    return op->width == 8 ? reg64(w, offset)[lane] : reg32(w, offset)[lane];
}

static void give_back(struct warp *w, const struct op *op, unsigned lane, u64 old)
{
    if (!op->d[0])
        return;
    if (op->width == 8)
        reg64(w, op->d[0])[lane] = old;
    else
        reg32(w, op->d[0])[lane] = (u32)old;
}

static const struct op *atomic_shared(struct warp *w, const struct op *op, u32 mask,
                                      const u32 a[WARP_LANES])
{
    EACH(mask)
    {
        if (unlikely((u64)a[i] + op->width > w->block->shared_bytes))
            return fault_bounds(w, op, PTX_SPACE_SHARED, i, a[i], op->width);
        if (unlikely(a[i] & (op->width - 1)))
            return fault_alignment(w, op, PTX_SPACE_SHARED, i, a[i], op->width);
    }
    hazard_shared_atomic(w, op, mask, a, op->width);
    EACH(mask)
    {
        uint8_t *host = w->block->shared + a[i];
        u64 old = 0, b = operand(w, op, op->b, i), c = operand(w, op, op->c, i);
        memcpy(&old, host, op->width);
        if (op->width == 2)
            b &= 0xffff;
        u64 fresh = apply(op, old, b, c, false);
        memcpy(host, &fresh, op->width);
        give_back(w, op, i, old);
    }
    return op + 1;
}

static const struct op *atomic_global(struct warp *w, const struct op *op, u32 mask,
                                      const u64 a[WARP_LANES])
{
    const struct memory_map *map = &w->worker->run->map;
    uint32_t *hint = &w->worker->site_memory[op->site];
    uint8_t *host[WARP_LANES];
    EACH(mask)
    {
        if (unlikely(a[i] & (op->width - 1)))
            return fault_alignment(w, op, PTX_SPACE_GLOBAL, i, a[i], op->width);
        host[i] = memory_find(map, a[i], op->width, hint);
        if (unlikely(!host[i]))
            return fault_bounds(w, op, PTX_SPACE_GLOBAL, i, a[i], op->width);
        if (unlikely(map->items[*hint].read_only))
            return fault_read_only(w, op, i, a[i]);
    }
    hazard_global_atomic(w, op, mask, a, op->width);
    EACH(mask)
    give_back(w, op, i,
              do_atomic(op, host[i], operand(w, op, op->b, i), operand(w, op, op->c, i), true));
    return op + 1;
}

static void atomic_addresses(const struct warp *w, const struct op *op, u64 out[WARP_LANES])
{
    for (unsigned i = 0; i < WARP_LANES; i++)
        out[i] = (op->mode2 == 8 ? reg64(w, op->a)[i] : reg32(w, op->a)[i]) + (u64)op->imm;
}

HANDLER(atom_shared)
{
    if (op->mode >= ATOM_EXCH)
        note_poll(w, false);
    u64 wide[WARP_LANES];
    ALIGNED u32 a[WARP_LANES];
    atomic_addresses(w, op, wide);
    for (unsigned i = 0; i < WARP_LANES; i++)
        a[i] = op->mode2 == 8 && wide[i] >> 32 ? UINT32_MAX : (u32)wide[i];
    return atomic_shared(w, op, w->mask, a);
}

HANDLER(atom_global)
{
    if (op->mode >= ATOM_EXCH)
        note_poll(w, true);
    u64 a[WARP_LANES];
    atomic_addresses(w, op, a);
    return atomic_global(w, op, w->mask, a);
}

HANDLER(atom_generic)
{
    if (op->mode >= ATOM_EXCH)
        note_poll(w, true);
    u64 a[WARP_LANES];
    ALIGNED u32 low[WARP_LANES];
    u32 shared = 0, other = 0;
    atomic_addresses(w, op, a);
    EACH(w->mask)
    {
        enum ptx_space space = generic_space(a[i]);
        low[i] = (u32)a[i];
        if (space == PTX_SPACE_SHARED)
            shared |= 1u << i;
        else if (space == PTX_SPACE_GLOBAL)
            other |= 1u << i;
        else
            return fault_bounds(w, op, space, i, low[i], op->width);
    }
    if (shared && !atomic_shared(w, op, shared, low))
        return NULL;
    if (other && !atomic_global(w, op, other, a))
        return NULL;
    return op + 1;
}
