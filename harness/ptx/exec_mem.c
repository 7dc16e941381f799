/* Loads and stores. The common shapes come first: 32 lanes in a row, and all lanes at one address;
 * everything else goes lane by lane. op->a is the address register, op->mode2 its bytes, op->imm
 * the offset; op->mode is the bytes of the data registers (which may be wider than the data). */
#include "harness/ptx/handlers.h"

#include "harness/ptx/hazard.h"
#include "harness/ptx/mem.h"

/* ---- addresses ---------------------------------------------------------------------------------
 */

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

/* ---- moving data -------------------------------------------------------------------------------
 */

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

/* ---- shared ------------------------------------------------------------------------------------
 */

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

static const struct op *load_shared_lanes(struct warp *w, const struct op *op, u32 mask,
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
            for (int k = 0; k < V32_COUNT; k++) {
                vu32 at = v32_load(a + k * V32_LANES);
                /* dead lanes may point anywhere; they read offset 0 */
                at &= v32_spread(mask >> (k * V32_LANES));
#if defined(V_AVX512)
                *(vu32 *)(d + k * V_BYTES) =
                    (vu32)_mm512_i32gather_epi32((__m512i)at, shared + 4 * v, 1);
#else
                *(vu32 *)(d + k * V_BYTES) = (vu32)_mm256_i32gather_epi32(
                    (const int *)(const void *)(shared + 4 * v), (__m256i)at, 1);
#endif
            }
        }
        return op + 1;
    }
#endif
    EACH(mask)
    load_lane(w, op, i, shared + a[i]);
    return op + 1;
}

static const struct op *store_shared_lanes(struct warp *w, const struct op *op, u32 mask,
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

/* Whole warp, 4-byte elements in 4-byte registers; vec is a constant at each call. */
static inline const struct op *load_shared_fast(struct warp *w, const struct op *op, unsigned vec)
{
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    u32 bytes = 4 * vec, limit = w->block->shared_bytes;
    if (likely(w->mask == FULL_MASK)) {
        u32 first = a[0];
        const uint8_t *from = w->block->shared + first;
        if (is_same32(a)) {
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
        if (vec == 1 && is_row32(a, 4) && likely(!(first & 3)) &&
            likely((u64)first + 128 <= limit)) {
            hazard_shared_read_row(w, op, first, 4);
            vu32 *d = (vu32 *)(w->regs + op->d[0]);
            for (int k = 0; k < V32_COUNT; k++)
                d[k] = v32_load(from + k * V_BYTES);
            return op + 1;
        }
    }
    return load_shared_lanes(w, op, w->mask, a);
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
    return load_shared_lanes(w, op, w->mask, a);
}

HANDLER(st_shared_32)
{
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    u32 first = a[0];
    if (likely(w->mask == FULL_MASK) && is_row32(a, 4) && likely(!(first & 3)) &&
        likely((u64)first + 128 <= w->block->shared_bytes)) {
        hazard_shared_write_row(w, op, first, 4);
        memcpy(w->block->shared + first, SRC(u32, op->d[0]), 128);
        return op + 1;
    }
    return store_shared_lanes(w, op, w->mask, a);
}

HANDLER(st_shared_any)
{
    ALIGNED u32 a[WARP_LANES];
    addresses32(w, op, a);
    return store_shared_lanes(w, op, w->mask, a);
}

/* ---- global ------------------------------------------------------------------------------------
 */

/* Host addresses of all lanes; false after a fault. One look-up is enough when the lanes stay
 * within one allocation. */
static bool find_global(struct warp *w, const struct op *op, u32 mask, const u64 a[WARP_LANES],
                        u32 bytes, uint8_t *host[WARP_LANES], bool is_write)
{
    const struct memory_map *map = &w->worker->run->map;
    uint32_t *hint = &w->worker->site_memory[op->site];
    u64 low = UINT64_MAX, high = 0, crooked = 0;
    EACH(mask)
    {
        low = a[i] < low ? a[i] : low;
        high = a[i] > high ? a[i] : high;
        crooked |= a[i] & (bytes - 1);
    }
    uint8_t *base = crooked || high - low > UINT64_MAX - bytes
                        ? NULL
                        : memory_find(map, low, high - low + bytes, hint);
    if (likely(base != NULL)) {
        if (unlikely(is_write && map->items[*hint].read_only))
            return fault_read_only(w, op, (unsigned)__builtin_ctz(mask), low) != NULL;
        EACH(mask)
        host[i] = base + (a[i] - low);
        return true;
    }
    EACH(mask)
    {
        if (a[i] & (bytes - 1))
            return fault_alignment(w, op, PTX_SPACE_GLOBAL, i, a[i], bytes) != NULL;
        host[i] = memory_find(map, a[i], bytes, hint);
        if (!host[i])
            return fault_bounds(w, op, PTX_SPACE_GLOBAL, i, a[i], bytes) != NULL;
        if (is_write && map->items[*hint].read_only)
            return fault_read_only(w, op, i, a[i]) != NULL;
    }
    return true;
}

static const struct op *load_global_lanes(struct warp *w, const struct op *op, u32 mask,
                                          const u64 a[WARP_LANES])
{
    uint8_t *host[WARP_LANES];
    u32 bytes = access_bytes(op);
    if (unlikely(!find_global(w, op, mask, a, bytes, host, false)))
        return NULL;
    hazard_global_read(w, op, mask, a, bytes);
    EACH(mask)
    load_lane(w, op, i, host[i]);
    return op + 1;
}

static const struct op *store_global_lanes(struct warp *w, const struct op *op, u32 mask,
                                           const u64 a[WARP_LANES])
{
    uint8_t *host[WARP_LANES];
    u32 bytes = access_bytes(op);
    if (unlikely(!find_global(w, op, mask, a, bytes, host, true)))
        return NULL;
    hazard_global_write(w, op, mask, a, bytes);
    EACH(mask)
    store_lane(w, op, i, host[i]);
    return op + 1;
}

HANDLER(ld_global_32)
{
    const u64 *a = SRC(u64, op->a);
    if (likely(w->mask == FULL_MASK) && op->mode2 == 8 && is_row64(a, 4)) {
        u64 first = a[0] + (u64)op->imm;
        uint32_t *hint = &w->worker->site_memory[op->site];
        const struct memory_map *map = &w->worker->run->map;
        uint8_t *host = memory_find(map, first, 128, hint);
        if (likely(host != NULL) && likely(!(first & 3))) {
            hazard_global_read_row(w, op, *hint, first - map->items[*hint].va, 4);
            memcpy(reg32(w, op->d[0]), host, 128);
            return op + 1;
        }
    }
    ALIGNED u64 address[WARP_LANES];
    addresses64(w, op, address);
    return load_global_lanes(w, op, w->mask, address);
}

HANDLER(ld_global_any)
{
    ALIGNED u64 a[WARP_LANES];
    addresses64(w, op, a);
    u32 bytes = access_bytes(op);
    if (w->mask == FULL_MASK && op->width == 4 && op->mode == 4 && is_row64(a, bytes)) {
        uint32_t *hint = &w->worker->site_memory[op->site];
        const struct memory_map *map = &w->worker->run->map;
        uint8_t *host = memory_find(map, a[0], bytes * 32, hint);
        if (host && !(a[0] & (bytes - 1))) {
            hazard_global_read_row(w, op, *hint, a[0] - map->items[*hint].va, bytes);
            for (unsigned i = 0; i < WARP_LANES; i++)
                load_lane(w, op, i, host + i * bytes);
            return op + 1;
        }
    }
    return load_global_lanes(w, op, w->mask, a);
}

HANDLER(st_global_32)
{
    const u64 *a = SRC(u64, op->a);
    if (likely(w->mask == FULL_MASK) && op->mode2 == 8 && is_row64(a, 4)) {
        u64 first = a[0] + (u64)op->imm;
        uint32_t *hint = &w->worker->site_memory[op->site];
        const struct memory_map *map = &w->worker->run->map;
        uint8_t *host = memory_find(map, first, 128, hint);
        if (likely(host != NULL) && likely(!(first & 3)) && likely(!map->items[*hint].read_only)) {
            hazard_global_write_row(w, op, *hint, first - map->items[*hint].va, 4);
            memcpy(host, reg32(w, op->d[0]), 128);
            return op + 1;
        }
    }
    ALIGNED u64 address[WARP_LANES];
    addresses64(w, op, address);
    return store_global_lanes(w, op, w->mask, address);
}

HANDLER(st_global_any)
{
    ALIGNED u64 a[WARP_LANES];
    addresses64(w, op, a);
    u32 bytes = access_bytes(op);
    if (w->mask == FULL_MASK && bytes >= 4 && is_row64(a, bytes)) {
        uint32_t *hint = &w->worker->site_memory[op->site];
        const struct memory_map *map = &w->worker->run->map;
        uint8_t *host = memory_find(map, a[0], bytes * 32, hint);
        if (host && !(a[0] & (bytes - 1)) && !map->items[*hint].read_only) {
            hazard_global_write_row(w, op, *hint, a[0] - map->items[*hint].va, bytes);
            for (unsigned i = 0; i < WARP_LANES; i++)
                store_lane(w, op, i, host + i * bytes);
            return op + 1;
        }
    }
    return store_global_lanes(w, op, w->mask, a);
}

/* ---- local -------------------------------------------------------------------------------------
 */

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

/* ---- const and parameters ----------------------------------------------------------------------
 */

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

/* ---- generic -----------------------------------------------------------------------------------
 */

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
        return load_shared_lanes(w, op, mask, low);
    case PTX_SPACE_LOCAL:
        return load_local_lanes(w, op, mask, low);
    case PTX_SPACE_CONST:
        return load_flat(w, op, mask, low, run->constants, run->constant_bytes, space);
    case PTX_SPACE_PARAM:
        return load_flat(w, op, mask, low, run->launch->params, run->launch->param_bytes, space);
    default:
        return load_global_lanes(w, op, mask, a);
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
    w->polled = true;
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
            next = store_shared_lanes(w, op, part, low);
        else if (space == PTX_SPACE_LOCAL)
            next = store_local_lanes(w, op, part, low);
        else if (space == PTX_SPACE_GLOBAL)
            next = store_global_lanes(w, op, part, a);
        else
            next = fault_bounds(w, op, space, (unsigned)__builtin_ctz(part),
                                low[__builtin_ctz(part)], access_bytes(op));
        if (!next)
            return NULL;
        left &= ~part;
    }
    return op + 1;
}

/* ---- address arithmetic ------------------------------------------------------------------------
 */

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
