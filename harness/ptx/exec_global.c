/* Loads and stores of global memory: a whole warp in a row, or lane by lane. */
#include "harness/ptx/access.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/mem.h"

/* Where the lanes' data lies: host[lane], and `base` + a[lane] - low for all lanes when one
 * allocation holds all of it (else NULL). */
struct places {
    uint8_t *base;
    u64 low, high;
    uint8_t *host[WARP_LANES];
};

/* Lanes in several allocations, or something wrong with one of them; false after a fault. */
static bool find_each(struct warp *w, const struct op *op, u32 mask, const u64 a[WARP_LANES],
                      u32 bytes, struct places *p, bool is_write)
{
    const struct memory_map *map = &w->worker->run->map;
    uint32_t *hint = &w->worker->site_memory[op->site];
    p->base = NULL;
    EACH(mask)
    {
        if (a[i] & (bytes - 1))
            return fault_alignment(w, op, PTX_SPACE_GLOBAL, i, a[i], bytes) != NULL;
        p->host[i] = memory_find(map, a[i], bytes, hint);
        if (!p->host[i])
            return fault_bounds(w, op, PTX_SPACE_GLOBAL, i, a[i], bytes) != NULL;
        if (is_write && map->items[*hint].read_only)
            return fault_read_only(w, op, i, a[i]) != NULL;
    }
    return true;
}

/* One look-up is enough when the lanes stay within one allocation. False after a fault. */
static bool find_global(struct warp *w, const struct op *op, u32 mask, const u64 a[WARP_LANES],
                        u32 bytes, struct places *p, bool is_write)
{
    const struct memory_map *map = &w->worker->run->map;
    uint32_t *hint = &w->worker->site_memory[op->site];
    const u64 some = a[__builtin_ctz(mask)];
    u64 low = some, high = some, crooked = 0;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        u64 x = mask >> i & 1 ? a[i] : some;
        low = x < low ? x : low;
        high = x > high ? x : high;
        crooked |= x & (bytes - 1);
    }
    p->low = low;
    p->high = high;
    p->base = crooked || high - low > UINT64_MAX - bytes
                  ? NULL
                  : memory_find(map, low, high - low + bytes, hint);
    if (unlikely(!p->base))
        return find_each(w, op, mask, a, bytes, p, is_write);
    if (unlikely(is_write && map->items[*hint].read_only))
        return fault_read_only(w, op, (unsigned)__builtin_ctz(mask), low) != NULL;
    EACH(mask)
    p->host[i] = p->base + (a[i] - low);
    return true;
}

#if defined(V_AVX512) || defined(V_AVX2)
/* Words of 4 bytes from all lanes that live, in one allocation. False: not of that shape. */
static bool load_words(struct warp *w, const struct op *op, u32 mask, const u64 a[WARP_LANES],
                       const struct places *p)
{
    if (op->width != 4 || op->mode != 4 || mask != w->live || !p->base ||
        p->high - p->low > INT32_MAX)
        return false;
    ALIGNED u32 at[WARP_LANES];
    for (unsigned i = 0; i < WARP_LANES; i++)
        at[i] = mask >> i & 1 ? (u32)(a[i] - p->low) : 0;
    for (unsigned v = 0; v < op->vec; v++) {
        vu32 *d = (vu32 *)reg32(w, op->d[v]);
        const u32 *from = (const u32 *)(const void *)(p->base + 4 * v);
        for (int k = 0; k < V32_COUNT; k++)
            d[k] = v32_gather(from, v32_load(at + k * V32_LANES));
    }
    return true;
}
#endif

const struct op *ISA(load_global_lanes)(struct warp *w, const struct op *op, u32 mask,
                                        const u64 a[WARP_LANES])
{
    struct places p;
    u32 bytes = access_bytes(op);
    if (unlikely(!find_global(w, op, mask, a, bytes, &p, false)))
        return NULL;
    hazard_global_read(w, op, mask, a, bytes);
#if defined(V_AVX512) || defined(V_AVX2)
    if (load_words(w, op, mask, a, &p))
        return op + 1;
#endif
    EACH(mask)
    load_lane(w, op, i, p.host[i]);
    return op + 1;
}

const struct op *ISA(store_global_lanes)(struct warp *w, const struct op *op, u32 mask,
                                         const u64 a[WARP_LANES])
{
    struct places p;
    u32 bytes = access_bytes(op);
    if (unlikely(!find_global(w, op, mask, a, bytes, &p, true)))
        return NULL;
    hazard_global_write(w, op, mask, a, bytes);
    EACH(mask)
    store_lane(w, op, i, p.host[i]);
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
    return ISA(load_global_lanes)(w, op, w->mask, address);
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
    return ISA(load_global_lanes)(w, op, w->mask, a);
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
    return ISA(store_global_lanes)(w, op, w->mask, address);
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
    return ISA(store_global_lanes)(w, op, w->mask, a);
}
