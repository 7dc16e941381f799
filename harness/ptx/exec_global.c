/* Loads and stores of global memory: a whole warp in a row, or lane by lane. */
#include "harness/ptx/access.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/mem.h"

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

const struct op *ISA(load_global_lanes)(struct warp *w, const struct op *op, u32 mask,
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

const struct op *ISA(store_global_lanes)(struct warp *w, const struct op *op, u32 mask,
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
