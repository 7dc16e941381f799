#include "harness/ptx/global_memory.h"

#include "harness/ptx/mem.h"

#include <string.h>

/* From a warp's addresses to words of allocations. A row of words that nobody else touched is
 * checked and stamped at once; anything else goes lane by lane. */

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

/* ---- rows */

/* Does another block's mark stand on one of these words? */
static bool row_is_foreign(const uint32_t *who, uint32_t me, uint64_t words)
{
    uint32_t other = 0;
    for (uint64_t i = 0; i < words; i++)
        other |= (uint32_t)(who[i] != 0) & (uint32_t)(who[i] != me);
    return other;
}

/* Are all keys ordered before this access, or the lane's own? A lane has 1 << shift words. */
static bool row_is_ordered(const uint32_t *key, const struct clock_warp *clock, uint32_t words,
                           uint32_t shift)
{
    uint32_t bad = 0;
    for (uint32_t i = 0; i < words; i++) {
        uint32_t own = (uint32_t)(((key[i] ^ clock->mine) & 0x7e0) == 0) &
                       (uint32_t)(key[i] < clock->own_floor);
        bad |= (uint32_t)(key[i] >= clock->floor) &
               (uint32_t)(key[i] != clock->mine + (i >> shift)) & (own ^ 1);
    }
    return !bad;
}

static bool row_is_clean(const struct touch *t, uint64_t word, uint32_t words, uint32_t shift)
{
    const struct hazard_memory *m = t->m;
    const struct clock_warp *clock = &t->w->hazard->clock;
    return !t->strong && !row_is_foreign(m->writer + word, t->me, words) &&
           !row_is_foreign(m->reader + word, t->me, words) &&
           (!m->write_key || (row_is_ordered(m->write_key + word, clock, words, shift) &&
                              row_is_ordered(m->read_key + word, clock, words, shift)));
}

static void fill_sites(uint16_t *sites, uint16_t value, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        sites[i] = value;
}

static void stamp_row(const struct touch *t, uint64_t word, uint32_t words, uint32_t shift,
                      bool writes)
{
    struct hazard_memory *m = t->m;
    uint32_t *who = (writes ? m->writer : m->reader) + word;
    for (uint32_t i = 0; i < words; i++)
        who[i] = t->me;
    const uint16_t site = shadow_site(t->op);
    fill_sites((writes ? m->write_site : m->read_site) + word, site, words);
    if (m->write_epoch)
        fill_sites((writes ? m->write_epoch : m->read_epoch) + word,
                   t->w->worker->hazard->global_epoch, words);
    if (!m->write_key)
        return;
    uint32_t *key = (writes ? m->write_key : m->read_key) + word;
    for (uint32_t i = 0; i < words; i++)
        key[i] = t->w->hazard->clock.mine + (i >> shift);
    fill_sites((writes ? m->inner_write_site : m->inner_read_site) + word, site, words);
}

static uint32_t words_shift(uint32_t bytes)
{
    return bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
}

static void lanes(struct warp *w, const struct op *op, uint32_t mask, const uint64_t addr[32],
                  uint32_t bytes, bool reads, bool writes);

static void row_by_lanes(struct warp *w, const struct op *op, uint64_t va, uint32_t bytes,
                         bool writes)
{
    uint64_t addr[32];
    for (unsigned i = 0; i < 32; i++)
        addr[i] = va + i * (uint64_t)bytes;
    lanes(w, op, FULL_MASK, addr, bytes, !writes, writes);
}

void hazard_global_read_item(struct warp *w, const struct op *op, uint32_t item, uint64_t offset,
                             uint32_t bytes)
{
    struct touch t = touch_of(w, op, item);
    const struct ptx_memory *memory = &w->worker->run->map.items[item];
    uint64_t word = offset / 4;
    uint32_t words = 8 * bytes, shift = words_shift(bytes);
    bool unset = memory->written && memchr(memory->written + offset, 0, 32 * (size_t)bytes);
    if (!unset && !t.m)
        return;
    if (!unset && !(offset & 3) && bytes >= 4 && !(op->flags & OP_NC) &&
        row_is_clean(&t, word, words, shift)) {
        hazard_note(w->hazard, op);
        stamp_row(&t, word, words, shift, false);
        return;
    }
    row_by_lanes(w, op, memory->va + offset, bytes, false);
}

void hazard_global_write_item(struct warp *w, const struct op *op, uint32_t item, uint64_t offset,
                              uint32_t bytes)
{
    struct touch t = touch_of(w, op, item);
    const struct ptx_memory *memory = &w->worker->run->map.items[item];
    uint64_t word = offset / 4;
    uint32_t words = 8 * bytes, shift = words_shift(bytes);
    bool watched = w->block->hazard->source_items >> (item & 63) & 1;
    if (!watched && !(offset & 3) && bytes >= 4 &&
        (!t.m || (!t.m->constant_site && row_is_clean(&t, word, words, shift)))) {
        if (memory->written)
            memset(memory->written + offset, 1, 32 * (size_t)bytes);
        if (!t.m)
            return;
        t.m->any_write = true;
        hazard_note(w->hazard, op);
        stamp_row(&t, word, words, shift, true);
        return;
    }
    row_by_lanes(w, op, memory->va + offset, bytes, true);
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

static void lanes(struct warp *w, const struct op *op, uint32_t mask, const uint64_t addr[32],
                  uint32_t bytes, bool reads, bool writes)
{
    struct touch t = {.item = UINT32_MAX};
    hazard_note(w->hazard, op);
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
