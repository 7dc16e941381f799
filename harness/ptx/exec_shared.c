/* Loads and stores of shared memory. Two shapes come first: 32 lanes in a row, and all lanes at one
 * address; everything else goes lane by lane. */
#include "harness/ptx/access.h"
#include "harness/ptx/hazard_shared.h"
#include "harness/ptx/mem.h"

/* The first lane whose access is out of bounds or misaligned, 32 when there is none. */
static inline unsigned bad_shared(const u32 a[WARP_LANES], u32 mask, u32 bytes, u32 limit)
{
    u32 bad = 0;
    u32 last = limit - bytes;
    if (unlikely(bytes > limit))
        return (unsigned)__builtin_ctz(mask);
    for (int k = 0; k < V32_COUNT; k++) {
        vu32 x = v32_load(a + k * V32_LANES);
        vs32 wrong = (vs32)(x > v32_set(last)) | (vs32)((x & v32_set(bytes - 1)) != 0);
        bad |= v32_bits(wrong) << (k * V32_LANES);
    }
    bad &= mask;
    return likely(!bad) ? 32 : (unsigned)__builtin_ctz(bad);
}

static const struct op *fault_shared(struct warp *w, const struct op *op, unsigned lane,
                                     u32 address)
{
    u32 bytes = access_bytes(op);
    if ((u64)address + bytes > w->block->shared_bytes)
        return fault_bounds(w, op, PTX_SPACE_SHARED, lane, address, bytes);
    return fault_alignment(w, op, PTX_SPACE_SHARED, lane, address, bytes);
}

const struct op *ISA(load_shared_lanes)(struct warp *w, const struct op *op, u32 mask,
                                        const u32 a[WARP_LANES])
{
    u32 bytes = access_bytes(op);
    unsigned bad = bad_shared(a, mask, bytes, w->block->shared_bytes);
    if (unlikely(bad < 32))
        return fault_shared(w, op, bad, a[bad]);
    hazard_shared_read(w, op, mask, a, bytes);
    const uint8_t *shared = w->block->shared;
#if defined(V_AVX512) || defined(V_AVX2)
    if (op->width == 4 && op->mode == 4 && mask == w->live) {
        for (unsigned v = 0; v < op->vec; v++) {
            char *d = (char *)reg32(w, op->d[v]);
            const u32 *from = (const u32 *)(const void *)(shared + 4 * v);
            for (int k = 0; k < V32_COUNT; k++) {
                /* dead lanes may point anywhere; they read offset 0 */
                vu32 at = v32_load(a + k * V32_LANES) & v32_spread(mask >> (k * V32_LANES));
                *(vu32 *)(d + k * V_BYTES) = v32_gather(from, at);
            }
        }
        return op + 1;
    }
#endif
    EACH(mask)
    load_lane(w, op, i, shared + a[i]);
    return op + 1;
}

const struct op *ISA(store_shared_lanes)(struct warp *w, const struct op *op, u32 mask,
                                         const u32 a[WARP_LANES])
{
    u32 bytes = access_bytes(op);
    unsigned bad = bad_shared(a, mask, bytes, w->block->shared_bytes);
    if (unlikely(bad < 32))
        return fault_shared(w, op, bad, a[bad]);
    hazard_shared_write(w, op, mask, a, bytes);
    uint8_t *shared = w->block->shared;
    EACH(mask)
    store_lane(w, op, i, shared + a[i]);
    return op + 1;
}

/* Shapes of a whole warp's 32-bit addresses, told from the register itself, before the offset. */
static inline bool all_same(const struct warp *w, const struct op *op)
{
    const vu32 *a = (const vu32 *)(w->regs + op->a);
    vu32 first = v32_set(a[0][0]);
    vs32 same = (vs32)(a[0] == first);
    for (int k = 1; k < V32_COUNT; k++)
        same &= (vs32)(a[k] == first);
    return v32_bits(same) == (u32)((1ull << V32_LANES) - 1);
}

static inline bool all_in_row(const struct warp *w, const struct op *op)
{
    const vu32 *a = (const vu32 *)(w->regs + op->a);
    vu32 next = v32_set(a[0][0]) + v32_iota() * 4;
    vs32 same = (vs32)(a[0] == next);
    for (int k = 1; k < V32_COUNT; k++) {
        next += v32_set(4 * V32_LANES);
        same &= (vs32)(a[k] == next);
    }
    return v32_bits(same) == (u32)((1ull << V32_LANES) - 1);
}

/* Is each half of the warp in a row, or all at one address? */
static inline bool in_halves(const u32 a[WARP_LANES])
{
    vs32 same = ~(vs32){0};
    for (int k = 0; k < V32_COUNT; k++) {
        const u32 *half = a + k * V32_LANES / 16 * 16;
        u32 step = half[1] == half[0] ? 0 : 4, lane = (u32)(k * V32_LANES) & 15;
        vu32 want = v32_set(half[0]) + (v32_iota() + v32_set(lane)) * step;
        same &= (vs32)(v32_load(a + k * V32_LANES) == want);
    }
    return v32_bits(same) == (u32)((1ull << V32_LANES) - 1);
}

static inline void load_half(struct warp *w, const struct op *op, unsigned lane, const u32 *a)
{
    char *to = (char *)(reg32(w, op->d[0]) + lane);
    const uint8_t *from = w->block->shared + a[lane];
    u32 x;
    memcpy(&x, from, 4);
    if (a[lane + 1] != a[lane])
        memcpy(to, from, 64);
    else
        for (int k = 0; k < 16 / V32_LANES; k++)
            v32_store(to + k * V_BYTES, v32_set(x));
}

/* As 16-wide tiles are read; NULL: not of that shape, or not right. */
static inline const struct op *load_shared_halves(struct warp *w, const struct op *op,
                                                  const u32 a[WARP_LANES])
{
    if (!in_halves(a) || bad_shared(a, FULL_MASK, 4, w->block->shared_bytes) < 32)
        return NULL;
    hazard_shared_read_halves(w, op, a);
    load_half(w, op, 0, a);
    load_half(w, op, 16, a);
    return op + 1;
}

/* Whole warp, 4-byte elements in 4-byte registers; vec is a constant at each call. */
static inline const struct op *load_shared_fast(struct warp *w, const struct op *op, unsigned vec)
{
    u32 bytes = 4 * vec, limit = w->block->shared_bytes;
    if (likely(w->mask == FULL_MASK) && likely(op->mode2 == 4)) {
        u32 first = SRC(u32, op->a)[0] + (u32)op->imm;
        const uint8_t *from = w->block->shared + first;
        if (all_same(w, op)) {
            if (unlikely(first & (bytes - 1)) || unlikely((u64)first + bytes > limit))
                return fault_shared(w, op, 0, first);
            hazard_shared_read_same(w, op, FULL_MASK, first, bytes);
            for (unsigned v = 0; v < vec; v++) {
                u32 x;
                memcpy(&x, from + 4 * v, 4);
                vu32 *d = (vu32 *)(w->regs + op->d[v]);
                for (int k = 0; k < V32_COUNT; k++)
                    d[k] = v32_set(x);
            }
            return op + 1;
        }
        if (vec == 1 && all_in_row(w, op) && likely(!(first & 3)) &&
            likely((u64)first + 128 <= limit)) {
            hazard_shared_read_row(w, op, first, 4);
            vu32 *d = (vu32 *)(w->regs + op->d[0]);
            for (int k = 0; k < V32_COUNT; k++)
                d[k] = v32_load(from + k * V_BYTES);
            return op + 1;
        }
    }
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    const struct op *next = vec == 1 && w->mask == FULL_MASK ? load_shared_halves(w, op, a) : NULL;
    return next ? next : ISA(load_shared_lanes)(w, op, w->mask, a);
}

HANDLER(ld_shared_32)
{
    return load_shared_fast(w, op, 1);
}

HANDLER(ld_shared_v2_32)
{
    return load_shared_fast(w, op, 2);
}

HANDLER(ld_shared_v4_32)
{
    return load_shared_fast(w, op, 4);
}

HANDLER(ld_shared_any)
{
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    return ISA(load_shared_lanes)(w, op, w->mask, a);
}

HANDLER(st_shared_32)
{
    u32 first = SRC(u32, op->a)[0] + (u32)op->imm;
    if (likely(w->mask == FULL_MASK) && likely(op->mode2 == 4) && all_in_row(w, op) &&
        likely(!(first & 3)) && likely((u64)first + 128 <= w->block->shared_bytes)) {
        hazard_shared_write_row(w, op, first, 4);
        memcpy(w->block->shared + first, SRC(u32, op->d[0]), 128);
        return op + 1;
    }
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    return ISA(store_shared_lanes)(w, op, w->mask, a);
}

HANDLER(st_shared_any)
{
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    return ISA(store_shared_lanes)(w, op, w->mask, a);
}
