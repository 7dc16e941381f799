#include "harness/ptx/global_memory.h"

#include <string.h>

/* Threads of one block on one word of global memory. The rules are those of shared memory
 * (conflict.c): a word of an allocation is a cell like any other, as long as its keys are this
 * block's. Parts of words have none: who stores bytes is not remembered. */

static struct cell cell_of(struct hazard_memory *m, uint64_t word)
{
    return (struct cell){.write_key = m->write_key + word,
                         .read_key = m->read_key + word,
                         .readers = m->readers ? m->readers + word : NULL,
                         .write_site = m->inner_write_site + word,
                         .read_site = m->inner_read_site + word,
                         .address = (uint32_t)(word * 4),
                         .bytes = 4};
}

void inner_enter(const struct touch *t, uint64_t word)
{
    struct hazard_memory *m = t->m;
    if (m->writer[word] != t->me)
        m->write_key[word] = 0;
    if (m->reader[word] != t->me)
        m->read_key[word] = 0;
}

void inner_read(struct touch *t, uint64_t word)
{
    struct cell cell = cell_of(t->m, word);
    cell_read(&t->inner, &cell);
}

void inner_write(struct touch *t, uint64_t word, bool same_value)
{
    struct cell cell = cell_of(t->m, word);
    cell_write(&t->inner, &cell, same_value);
}

/* Whole words of [offset, offset + bytes). */
static uint64_t words_end(uint64_t offset, uint64_t bytes)
{
    return (offset | bytes) & 3 ? 0 : (offset + bytes) / 4;
}

void inner_stamp(struct touch *t, uint64_t offset, uint64_t bytes)
{
    const uint32_t key = t->w->hazard->clock.mine + t->lane;
    if (!t->m || !t->m->write_key)
        return;
    t->inner.lane = t->lane;
    for (uint64_t word = offset / 4; word < words_end(offset, bytes); word++) {
        struct cell cell = cell_of(t->m, word);
        cell_stamp(&t->inner, &cell, key);
    }
}

void inner_forget(struct touch *t, uint64_t offset, uint64_t bytes)
{
    if (!t->m || !t->m->write_key)
        return;
    memset(t->m->write_key + offset / 4, 0, bytes / 4 * sizeof *t->m->write_key);
}

/* Atomics of different threads on one word are several writers, as in shadow_atomic_lanes. */
void inner_stamp_atomic(struct touch *t, uint64_t offset, uint64_t bytes)
{
    if (!t->m || !t->m->write_key)
        return;
    const struct hazard_warp *h = t->w->hazard;
    t->inner.lane = t->lane;
    for (uint64_t word = offset / 4; word < words_end(offset, bytes); word++) {
        if (t->m->writer[word] == SEVERAL)
            continue;
        struct cell cell = cell_of(t->m, word);
        uint32_t before = *cell.write_key, key = h->clock.mine + t->lane;
        if (!h->precise && before != key &&
            !clock_ordered(&t->inner.block->clock, t->w->id, t->lane, before))
            key = key_is_near(&t->inner, before) ? h->clock.many : h->clock.many | WHO_SEVERAL;
        cell_stamp(&t->inner, &cell, key);
    }
}

static void value_of(const struct touch *t, unsigned lane, uint8_t out[16])
{
    const struct op *op = t->op;
    for (unsigned v = 0; v < op->vec; v++)
        memcpy(out + v * op->width,
               op->mode == 8 ? (const uint8_t *)(reg64(t->w, op->d[v]) + lane)
                             : (const uint8_t *)(reg32(t->w, op->d[v]) + lane),
               op->width);
}

void inner_check_twins(struct touch *t, uint32_t mask, const uint64_t addr[32], uint32_t bytes)
{
    uint64_t offset = addr[t->lane] - t->inner.va;
    if (!t->m || !t->m->write_key || !words_end(offset, bytes) || t->op->kind != PTX_KIND_STORE ||
        (uint32_t)t->op->width * t->op->vec != bytes || bytes > 16)
        return;
    uint32_t other = t->m->write_key[offset / 4] - t->w->hazard->clock.mine;
    if (other >= t->lane || !(mask >> other & 1) || addr[other] != addr[t->lane] ||
        t->m->writer[offset / 4] != t->me)
        return;
    uint8_t mine[16], theirs[16];
    value_of(t, t->lane, mine);
    value_of(t, other, theirs);
    if (!memcmp(mine, theirs, bytes))
        return;
    struct cell cell = {.address = (uint32_t)offset, .bytes = bytes};
    t->inner.lane = t->lane;
    t->inner.reported = false;
    conflict_report(&t->inner, &cell, PTX_HAZARD_RACE_WRITE_AFTER_WRITE, REASON_SAME_INSTRUCTION,
                    (struct side){shadow_site(t->op), t->w->id * 32 + other, t->w->id}, false);
}

/* Epochs start again: keys of this block become "long ago". */
void global_forget(struct block *block)
{
    const struct memory_map *map = &block->worker->run->map;
    const uint32_t me = (uint32_t)block->index + 1;
    for (size_t i = 0; i < map->count; i++) {
        struct hazard_memory *m = map->hazard[i];
        for (uint64_t word = 0; m && m->write_key && word < m->words; word++) {
            if (m->writer[word] == me)
                m->write_key[word] = 0;
            if (m->reader[word] == me)
                m->read_key[word] = 0;
        }
    }
}

/* ---- the read-only path */

static void report_constant(struct touch *t, uint64_t word, uint16_t other, bool reading)
{
    uint32_t mine = t->op->line, theirs = hazard_site_line(t->w, other);
    struct hazard_finding finding = {
        .kind = PTX_HAZARD_READ_ONLY_PATH,
        .reason = REASON_PLAIN,
        .line = reading ? mine : theirs,
        .other_line = reading ? theirs : mine,
        .thread = t->w->id * 32 + t->lane,
        .other = NOBODY,
        .other_block = UINT64_MAX,
        .space = PTX_SPACE_GLOBAL,
        .address = t->inner.va + word * 4,
        .bytes = 4,
        .element = t->op->width,
    };
    hazard_add(t->w, &finding);
}

void constant_read(struct touch *t, uint64_t word)
{
    struct hazard_memory *m = t->m;
    if (!m->constant_site)
        return;
    if (!m->constant_site[word] && shadow_site(t->op) != NO_SITE)
        m->constant_site[word] = (uint16_t)(shadow_site(t->op) + 1);
    if (m->writer[word])
        report_constant(t, word, m->write_site[word], true);
}

void constant_written(struct touch *t, uint64_t word)
{
    struct hazard_memory *m = t->m;
    if (m->constant_site[word])
        report_constant(t, word, (uint16_t)(m->constant_site[word] - 1), false);
}
