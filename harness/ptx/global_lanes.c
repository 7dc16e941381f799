#include "harness/ptx/global_memory.h"

#include "harness/ptx/mem.h"

#include <string.h>

/* From a warp's addresses to words of allocations, lane by lane (rows: exec_global_rows.c). */

/* ---- copies */

void global_read_bytes(struct warp *w, const struct op *op, unsigned lane, uint64_t va,
                       uint64_t bytes)
{
    uint32_t item = w->worker->site_memory[op->site];
    if (item >= w->worker->run->map.count)
        return;
    struct touch t = touch_of(w, op, item);
    t.lane = lane;
    touch_read(&t, va - w->worker->run->map.items[item].va, bytes);
}

void global_read_copies(struct warp *w, const struct op *op, uint32_t mask, const uint64_t src[32],
                        uint32_t size, const uint32_t bytes[32])
{
    uint32_t item = w->worker->site_memory[op->site];
    if (item >= w->worker->run->map.count)
        return;
    struct touch t = touch_of(w, op, item);
    uint64_t va = w->worker->run->map.items[item].va;
    /* All lines first: one miss after the other is what this would cost otherwise. */
    for (uint32_t left = t.m ? mask : 0; left; left &= left - 1) {
        uint64_t word = (src[__builtin_ctz(left)] - va) / 4;
        if (word < t.m->words)
            __builtin_prefetch(t.m->reader + word, 1);
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        t.lane = (unsigned)__builtin_ctz(left);
        uint32_t count = bytes ? bytes[t.lane] : size;
        if (count)
            touch_read(&t, src[t.lane] - va, count);
    }
}

void global_write_bytes(struct warp *w, const struct op *op, unsigned lane, uint64_t va,
                        uint64_t bytes)
{
    uint32_t item = w->worker->site_memory[op->site];
    if (item >= w->worker->run->map.count)
        return;
    struct touch t = touch_of(w, op, item);
    const uint64_t offset = va - w->worker->run->map.items[item].va;
    t.lane = lane;
    touch_write(&t, offset, bytes, NULL);
    inner_forget(&t, offset, bytes);
}

/* ---- lanes */

static bool stored_bytes(const struct warp *w, const struct op *op, unsigned lane, uint32_t bytes,
                         uint8_t out[16])
{
    if (op->kind != PTX_KIND_STORE || (uint32_t)op->width * op->vec != bytes || bytes > 16)
        return false;
    for (unsigned i = 0; i < op->vec; i++)
        memcpy(out + i * op->width,
               op->mode == 8 ? (const uint8_t *)(reg64(w, op->d[i]) + lane)
                             : (const uint8_t *)(reg32(w, op->d[i]) + lane),
               op->width);
    return true;
}

static bool find_touch(struct touch *t, struct warp *w, const struct op *op, uint64_t va,
                       uint32_t bytes)
{
    uint32_t *hint = &w->worker->site_memory[op->site];
    if (!memory_find(&w->worker->run->map, va, bytes, hint))
        return false;
    if (t->item != *hint)
        *t = touch_of(w, op, *hint);
    return true;
}

/* One lane's store, before it is known for all lanes whether they are in each other's way. */
static void write_lane(struct touch *t, uint64_t offset, uint32_t bytes)
{
    uint8_t value[16];
    bool known = stored_bytes(t->w, t->op, t->lane, bytes, value);
    touch_write(t, offset, bytes, known ? value : NULL);
}

static void atomic_lane(struct touch *t, uint64_t offset, uint32_t bytes)
{
    touch_check_written(t, offset, bytes);
    touch_write(t, offset, bytes, NULL);
    inner_stamp_atomic(t, offset, bytes);
}

/* Lanes of one instruction are no earlier accesses to each other: all are checked, then stamped. */
static void stamp_lanes(struct warp *w, const struct op *op, uint32_t mask, const uint64_t addr[32],
                        uint32_t bytes)
{
    struct touch t = {.item = UINT32_MAX};
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (!find_touch(&t, w, op, addr[lane], bytes) || !t.m)
            continue;
        t.lane = lane;
        inner_check_twins(&t, mask, addr, bytes);
        inner_stamp(&t, addr[lane] - t.inner.va, bytes);
    }
}

/* Is this word the block's own, and are all before this lane in order? */
static bool word_is_quick(const struct touch *t, uint64_t word)
{
    const struct hazard_memory *m = t->m;
    const uint32_t writer = m->writer[word], reader = m->reader[word];
    return (!writer || writer == t->me) && (!reader || reader == t->me) &&
           touch_is_ordered(t, m->write_key[word]) && touch_is_ordered(t, m->read_key[word]);
}

static void stamp_word(const struct touch *t, uint64_t word, uint16_t site)
{
    struct hazard_memory *m = t->m;
    m->writer[word] = t->me;
    m->write_site[word] = m->inner_write_site[word] = site;
    m->write_key[word] = t->w->hazard->clock.mine + t->lane;
    if (m->write_epoch)
        m->write_epoch[word] = t->w->worker->hazard->global_epoch;
}

/* The common scattered store: plain, whole words of one allocation that only this block uses, in
 * order. False, and nothing done: look closer. */
static bool write_quick(struct warp *w, const struct op *op, uint32_t mask, const uint64_t addr[32],
                        uint32_t bytes)
{
    const struct memory_map *map = &w->worker->run->map;
    const uint32_t item = w->worker->site_memory[op->site];
    if (bytes < 4 || item >= map->count || !map->hazard[item] || !map->hazard[item]->write_key ||
        map->hazard[item]->constant_site || w->block->hazard->source_items >> (item & 63) & 1)
        return false;
    struct touch t = touch_of(w, op, item);
    const struct ptx_memory *memory = &map->items[item];
    const uint64_t last = memory->bytes - bytes;
    for (uint32_t left = t.strong ? 0 : mask; left; left &= left - 1) {
        t.lane = (unsigned)__builtin_ctz(left);
        uint64_t offset = addr[t.lane] - memory->va;
        if (offset > last || offset & 3)
            return false;
        for (uint64_t word = offset / 4; word < (offset + bytes) / 4; word++)
            if (!word_is_quick(&t, word))
                return false;
    }
    for (uint32_t left = t.strong ? 0 : mask; left; left &= left - 1) {
        t.lane = (unsigned)__builtin_ctz(left);
        uint64_t offset = addr[t.lane] - memory->va;
        if (t.m->write_key[offset / 4] >= w->hazard->clock.mine)
            inner_check_twins(&t, mask, addr, bytes);
        for (uint64_t word = offset / 4; word < (offset + bytes) / 4; word++)
            stamp_word(&t, word, shadow_site(op));
        if (memory->written)
            memset(memory->written + offset, 1, bytes);
    }
    t.m->any_write |= !t.strong;
    return !t.strong;
}

static void lanes(struct warp *w, const struct op *op, uint32_t mask, const uint64_t addr[32],
                  uint32_t bytes, bool reads, bool writes)
{
    struct touch t = {.item = UINT32_MAX};
    hazard_note(w->hazard, op);
    if (writes && !reads && write_quick(w, op, mask, addr, bytes))
        return;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (!find_touch(&t, w, op, addr[lane], bytes))
            continue;
        t.lane = lane;
        uint64_t offset = addr[lane] - t.inner.va;
        if (t.strong) {
            hazard_strong(w, op, lane, addr[lane], reads, writes);
            touch_strong(w, op, addr[lane], reads, writes);
        }
        if (reads && writes)
            atomic_lane(&t, offset, bytes);
        else if (reads)
            touch_read(&t, offset, bytes);
        else
            write_lane(&t, offset, bytes);
    }
    if (writes && !reads)
        stamp_lanes(w, op, mask, addr, bytes);
}

/* All lanes in one allocation that nobody can write and whose bytes all count as written. */
static bool nothing_to_check(const struct warp *w, const struct op *op, uint32_t mask,
                             const uint64_t addr[32], uint32_t bytes)
{
    const struct memory_map *map = &w->worker->run->map;
    uint32_t item = w->worker->site_memory[op->site];
    if (item >= map->count || map->hazard[item] || map->items[item].written || hazard_is_strong(op))
        return false;
    uint64_t from = map->items[item].va, last = map->items[item].bytes - bytes, outside = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        outside |= (mask >> lane & 1) && addr[lane] - from > last;
    return !outside;
}

void hazard_global_read_lanes(struct warp *w, const struct op *op, uint32_t mask,
                              const uint64_t addr[32], uint32_t bytes)
{
    if (!nothing_to_check(w, op, mask, addr, bytes))
        lanes(w, op, mask, addr, bytes, true, false);
}

void hazard_global_write_lanes(struct warp *w, const struct op *op, uint32_t mask,
                               const uint64_t addr[32], uint32_t bytes)
{
    lanes(w, op, mask, addr, bytes, false, true);
}

void hazard_global_atomic_lanes(struct warp *w, const struct op *op, uint32_t mask,
                                const uint64_t addr[32], uint32_t bytes)
{
    lanes(w, op, mask, addr, bytes, true, true);
}
