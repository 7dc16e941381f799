/* What loads and stores of all spaces share: addresses of the lanes, and elements between registers
 * and flat memory.
 *
 * For the exec_*.c files only, which are compiled once per instruction set; nothing is owned.
 *
 * op->a is the address register, op->mode2 its bytes, op->imm the offset; op->mode is the bytes of
 * the data registers, which may be wider than the data. Nothing here checks bounds. */
#ifndef STRIDE_PTX_ACCESS_H
#define STRIDE_PTX_ACCESS_H

#include "harness/ptx/handlers.h"

/* ---- addresses */

/* Offsets in a 32-bit window. A 64-bit register with high bits set becomes out of bounds. */
static inline void addresses32(const struct warp *w, const struct op *op, u32 out[WARP_LANES])
{
    u32 imm = (u32)op->imm;
    if (op->mode2 == 8) {
        const u64 *a = SRC(u64, op->a);
        for (int i = 0; i < WARP_LANES; i++) {
            u64 address = a[i] + (u64)op->imm;
            out[i] = address >> 32 ? UINT32_MAX : (u32)address;
        }
        return;
    }
    const vu32 *a = (const vu32 *)(w->regs + op->a);
    for (int k = 0; k < V32_COUNT; k++)
        v32_store(out + k * V32_LANES, a[k] + v32_set(imm));
}

static inline void addresses64(const struct warp *w, const struct op *op, u64 out[WARP_LANES])
{
    if (op->mode2 == 8) {
        const u64 *a = SRC(u64, op->a);
        LANES out[i] = a[i] + (u64)op->imm;
    } else {
        const u32 *a = SRC(u32, op->a);
        LANES out[i] = (u64)a[i] + (u64)op->imm;
    }
}

/* All 32 lanes at first, first + step, first + 2 * step, ... */
static inline bool is_row32(const u32 a[WARP_LANES], u32 step)
{
    vu32 next = v32_set(a[0]) + v32_iota() * step;
    vs32 same = (vs32)(v32_load(a) == next);
    for (int k = 1; k < V32_COUNT; k++) {
        next += v32_set(step * V32_LANES);
        same &= (vs32)(v32_load(a + k * V32_LANES) == next);
    }
    return v32_bits(same) == (u32)((1ull << V32_LANES) - 1);
}

static inline bool is_row64(const u64 *a, u64 step)
{
    vu64 next = v64_set(a[0]) + v64_iota() * step;
    vs64 same = (vs64)(v64_load(a) == next);
    for (int k = 1; k < V64_COUNT; k++) {
        next += v64_set(step * V64_LANES);
        same &= (vs64)(v64_load(a + k * V64_LANES) == next);
    }
    return v64_bits(same) == (u32)((1ull << V64_LANES) - 1);
}

static inline bool is_same32(const u32 a[WARP_LANES])
{
    vu32 first = v32_set(a[0]);
    vs32 same = (vs32)(v32_load(a) == first);
    for (int k = 1; k < V32_COUNT; k++)
        same &= (vs32)(v32_load(a + k * V32_LANES) == first);
    return v32_bits(same) == (u32)((1ull << V32_LANES) - 1);
}

/* ---- moving data */

static inline u64 widen(const struct op *op, const uint8_t *from)
{
    switch (op->width) {
    case 1:
        return op->flags & OP_SIGNED ? (u64)(s64) * (const int8_t *)from : *from;
    case 2: {
        uint16_t x;
        memcpy(&x, from, 2);
        return op->flags & OP_SIGNED ? (u64)(s64)(int16_t)x : x;
    }
    case 4: {
        u32 x;
        memcpy(&x, from, 4);
        return op->flags & OP_SIGNED ? (u64)(s64)(s32)x : x;
    }
    default: {
        u64 x;
        memcpy(&x, from, 8);
        return x;
    }
    }
}

static inline void put_lane(struct warp *w, u32 offset, unsigned bytes, unsigned lane, u64 value)
{
    if (bytes == 8)
        reg64(w, offset)[lane] = value;
    else
        reg32(w, offset)[lane] = bytes == 2 ? (u32)value & 0xffff : (u32)value;
}

static inline u64 get_lane(const struct warp *w, u32 offset, unsigned bytes, unsigned lane)
{
    return bytes == 8 ? reg64(w, offset)[lane] : reg32(w, offset)[lane];
}

/* One lane's elements between its registers and flat memory. */
static inline void load_lane(struct warp *w, const struct op *op, unsigned lane,
                             const uint8_t *from)
{
    if (op->width == 4 && op->mode == 4) {
        for (unsigned v = 0; v < op->vec; v++)
            memcpy(&reg32(w, op->d[v])[lane], from + 4 * v, 4);
        return;
    }
    for (unsigned v = 0; v < op->vec; v++)
        put_lane(w, op->d[v], op->mode, lane, widen(op, from + v * op->width));
}

static inline void store_lane(const struct warp *w, const struct op *op, unsigned lane, uint8_t *to)
{
    for (unsigned v = 0; v < op->vec; v++) {
        u64 value = get_lane(w, op->d[v], op->mode, lane);
        memcpy(to + v * op->width, &value, op->width);
    }
}

static inline u32 access_bytes(const struct op *op)
{
    return (u32)op->width * op->vec;
}

/* Lanes one by one, with all checks; exec_shared.c and exec_global.c. */
#define LANES_OF(name, A)                                                                          \
    const struct op *ISA(name)(struct warp * w, const struct op *op, u32 mask,                     \
                               const A a[WARP_LANES]);
LANES_OF(load_shared_lanes, u32)
LANES_OF(store_shared_lanes, u32)
LANES_OF(load_global_lanes, u64)
LANES_OF(store_global_lanes, u64)
#undef LANES_OF

#endif
