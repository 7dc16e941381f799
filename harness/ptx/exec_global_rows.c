/* Rows of an allocation's shadow: 32 lanes whose words stand one behind the other. A row that
 * nobody else touched is checked and stamped as vectors; anything else goes lane by lane
 * (global_lanes.c).
 */
#include "harness/ptx/global_memory.h"
#include "harness/ptx/vec.h"

#include <string.h>

struct row {
    uint64_t word;
    uint32_t shift; /* a lane has 1 << shift words */
    int vectors;
};

static struct row row_of(uint64_t offset, uint32_t bytes)
{
    uint32_t shift = bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
    return (struct row){offset / 4, shift, V32_COUNT << shift};
}

static vu32 lanes_of(const struct row *row, int vector)
{
    return (v32_iota() + v32_set((uint32_t)(vector * V32_LANES))) >> row->shift;
}

/* Does another block's mark stand on one of these words? */
static bool is_foreign(const struct row *row, const uint32_t *who, uint32_t me)
{
    vs32 other = {0};
    for (int j = 0; j < row->vectors; j++) {
        vu32 x = v32_load(who + row->word + j * V32_LANES);
        other |= (vs32)(x != 0) & (vs32)(x != v32_set(me));
    }
    return v32_bits(other);
}

/* Are all keys ordered before this access, or the lane's own? */
static bool is_ordered(const struct row *row, const uint32_t *key, const struct clock_warp *clock)
{
    const vu32 floor = v32_set(clock->floor), mine = v32_set(clock->mine);
    const vu32 own_floor = v32_set(clock->own_floor);
    vs32 bad = {0};
    for (int j = 0; j < row->vectors; j++) {
        vu32 x = v32_load(key + row->word + j * V32_LANES);
        vs32 other = (vs32)(((x ^ (mine + lanes_of(row, j))) & v32_set(KEY_WHO)) != 0);
        vs32 far = (vs32)(((x ^ mine) & v32_set(0x7e0)) != 0) | (vs32)(x >= own_floor);
        bad |= (vs32)(x >= floor) & other & far;
    }
    return !v32_bits(bad);
}

static bool is_clean(const struct touch *t, const struct row *row)
{
    const struct hazard_memory *m = t->m;
    const struct clock_warp *clock = &t->w->hazard->clock;
    return !t->strong && !is_foreign(row, m->writer, t->me) && !is_foreign(row, m->reader, t->me) &&
           (!m->write_key ||
            (is_ordered(row, m->write_key, clock) && is_ordered(row, m->read_key, clock)));
}

static void fill(uint16_t *values, const struct row *row, uint16_t value)
{
    values += row->word;
    for (uint32_t i = 0; i < 32u << row->shift; i++)
        values[i] = value;
}

static void stamp(const struct touch *t, const struct row *row, bool writes)
{
    struct hazard_memory *m = t->m;
    const uint16_t site = shadow_site(t->op);
    uint32_t *who = (writes ? m->writer : m->reader) + row->word;
    for (int j = 0; j < row->vectors; j++)
        v32_store(who + j * V32_LANES, v32_set(t->me));
    fill(writes ? m->write_site : m->read_site, row, site);
    if (m->write_epoch)
        fill(writes ? m->write_epoch : m->read_epoch, row, t->w->worker->hazard->global_epoch);
    if (!m->write_key)
        return;
    uint32_t *key = (writes ? m->write_key : m->read_key) + row->word;
    for (int j = 0; j < row->vectors; j++)
        v32_store(key + j * V32_LANES, v32_set(t->w->hazard->clock.mine) + lanes_of(row, j));
    fill(writes ? m->inner_write_site : m->inner_read_site, row, site);
}

static void addresses(uint64_t addr[32], uint64_t va, uint32_t bytes)
{
    for (unsigned i = 0; i < 32; i++)
        addr[i] = va + i * (uint64_t)bytes;
}

void ISA(global_read_row)(struct warp *w, const struct op *op, uint32_t item, uint64_t offset,
                          uint32_t bytes)
{
    struct touch t = touch_of(w, op, item);
    struct row row = row_of(offset, bytes);
    const struct ptx_memory *memory = &w->worker->run->map.items[item];
    bool unset = memory->written && memchr(memory->written + offset, 0, 32 * (size_t)bytes);
    if (!unset && !t.m)
        return;
    if (!unset && !(offset & 3) && bytes >= 4 && !(op->flags & OP_NC) && is_clean(&t, &row)) {
        hazard_note(w->hazard, op);
        stamp(&t, &row, false);
        return;
    }
    uint64_t addr[32];
    addresses(addr, memory->va + offset, bytes);
    hazard_global_read_lanes(w, op, FULL_MASK, addr, bytes);
}

void ISA(global_write_row)(struct warp *w, const struct op *op, uint32_t item, uint64_t offset,
                           uint32_t bytes)
{
    struct touch t = touch_of(w, op, item);
    struct row row = row_of(offset, bytes);
    const struct ptx_memory *memory = &w->worker->run->map.items[item];
    bool watched = w->block->hazard->source_items >> (item & 63) & 1;
    if (!watched && !(offset & 3) && bytes >= 4 &&
        (!t.m || (!t.m->constant_site && is_clean(&t, &row)))) {
        if (memory->written)
            memset(memory->written + offset, 1, 32 * (size_t)bytes);
        if (!t.m)
            return;
        t.m->any_write = true;
        hazard_note(w->hazard, op);
        stamp(&t, &row, true);
        return;
    }
    uint64_t addr[32];
    addresses(addr, memory->va + offset, bytes);
    hazard_global_write_lanes(w, op, FULL_MASK, addr, bytes);
}
