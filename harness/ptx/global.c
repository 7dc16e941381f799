#include "harness/ptx/global.h"

#include "harness/base/buf.h"
#include "harness/ptx/async.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/locks.h"
#include "harness/ptx/mem.h"

#include <stdlib.h>
#include <string.h>

/* A word remembers one writing and one reading block, or that there were several. In precise runs,
 * which have one worker and whose blocks may order one another, "several" would forget who, so
 * there the last one stays, with its epoch. Shadow words are shared by workers without locks: a
 * lost update can lose a report of one word, never invent one. */

enum { SEVERAL = UINT32_MAX, EPOCHS = UINT16_MAX, KNOWN_BLOCKS = 1 << 16 };

struct hazard_memory {
    uint64_t words;
    uint32_t *writer, *reader; /* block + 1, 0: nobody */
    uint16_t *write_site, *read_site;
    uint16_t *write_epoch, *read_epoch; /* precise runs */
    bool any_write;                     /* writer[] holds something: set once, never cleared */
};

static struct hazard_memory *open_memory(uint64_t bytes, bool precise)
{
    struct hazard_memory *m = mem_zero(1, sizeof *m);
    m->words = (bytes + 3) / 4;
    m->writer = mem_zero(m->words, sizeof *m->writer);
    m->reader = mem_zero(m->words, sizeof *m->reader);
    m->write_site = mem_zero(m->words, sizeof *m->write_site);
    m->read_site = mem_zero(m->words, sizeof *m->read_site);
    if (precise) {
        m->write_epoch = mem_zero(m->words, sizeof *m->write_epoch);
        m->read_epoch = mem_zero(m->words, sizeof *m->read_epoch);
    }
    return m;
}

static void close_memory(struct hazard_memory *m)
{
    if (!m)
        return;
    free(m->writer);
    free(m->reader);
    free(m->write_site);
    free(m->read_site);
    free(m->write_epoch);
    free(m->read_epoch);
    free(m);
}

void global_run_open(struct run *run)
{
    struct hazard_run *hazard = run->hazard;
    run->map.hazard = mem_zero(run->map.count + 1, sizeof *run->map.hazard);
    hazard->global_locks = locks_open(1);
    if (!run->checks)
        return;
    bool several_blocks = run->block_count > 1 && run->block_count < SEVERAL - 1;
    for (size_t i = 0; i < run->map.count; i++) {
        const struct ptx_memory *memory = &run->map.items[i];
        hazard->watches_global |= memory->written || !memory->read_only;
        if (several_blocks && !memory->read_only)
            run->map.hazard[i] = open_memory(memory->bytes, hazard->precise);
    }
}

void global_run_close(struct run *run)
{
    for (size_t i = 0; run->map.hazard && i < run->map.count; i++)
        close_memory(run->map.hazard[i]);
    free(run->map.hazard);
    run->map.hazard = NULL;
    locks_close(run->hazard->global_locks);
}

void global_worker_open(struct worker *worker)
{
    const struct run *run = worker->run;
    if (run->hazard->precise && run->block_count <= KNOWN_BLOCKS)
        worker->hazard->global_known = mem_zero(run->block_count, sizeof(uint16_t));
}

void global_block_begin(struct block *block)
{
    struct hazard_worker *hazard = block->worker->hazard;
    const struct run *run = block->worker->run;
    hazard->global_epoch = 1;
    hazard->global_fenced = 0;
    if (hazard->global_known)
        memset(hazard->global_known, 0, run->block_count * sizeof(uint16_t));
    if (block->index == 0)
        locks_clear(run->hazard->global_locks,
                    (uint32_t)(run->block_count < KNOWN_BLOCKS ? run->block_count : 1));
}

void global_fence(struct warp *w)
{
    struct hazard_worker *hazard = w->worker->hazard;
    hazard->global_fenced = hazard->global_epoch;
    if (hazard->global_epoch < EPOCHS)
        hazard->global_epoch++;
}

/* A strong access may order this block behind others, and others behind this one. */
static void strong(struct warp *w, const struct op *op, uint64_t va, bool reads, bool writes)
{
    struct hazard_worker *hazard = w->worker->hazard;
    struct hazard_run *run = w->worker->run->hazard;
    if (!hazard->global_known || op->scope == SCOPE_CTA)
        return;
    uint32_t blocks = (uint32_t)w->worker->run->block_count;
    const uint32_t *vector = reads ? locks_find(run->global_locks, va, false) : NULL;
    for (uint32_t i = 0; vector && i < blocks; i++)
        if (vector[i] > hazard->global_known[i])
            hazard->global_known[i] = (uint16_t)vector[i];
    if (!writes)
        return;
    if (op->sem == SEM_RELEASE || op->sem == SEM_ACQ_REL || op->sem == SEM_SC)
        global_fence(w);
    if (!hazard->global_fenced)
        return;
    uint32_t *released = locks_find(run->global_locks, va, true);
    for (uint32_t i = 0; i < blocks; i++)
        if (hazard->global_known[i] > released[i])
            released[i] = hazard->global_known[i];
    uint64_t me = w->block->index;
    if (released[me] < hazard->global_fenced)
        released[me] = hazard->global_fenced;
}

/* ---- one access */

struct touch {
    struct warp *w;
    const struct op *op;
    struct hazard_memory *m;
    uint32_t item;
    uint32_t me; /* block + 1 */
    unsigned lane;
    bool strong, precise, reported;
};

static bool ordered(const struct touch *t, uint32_t who, uint16_t epoch)
{
    const uint16_t *known = t->w->worker->hazard->global_known;
    if (who == 0 || who == t->me)
        return true;
    return t->precise && (!known || epoch <= known[who - 1]);
}

static void report(struct touch *t, uint64_t offset, uint32_t bytes, uint16_t site, uint32_t who,
                   bool this_reads, bool other_reads)
{
    if (t->reported)
        return;
    t->reported = true;
    uint32_t other_line = hazard_site_line(t->w, site);
    struct hazard_finding finding = {
        .kind = PTX_HAZARD_GLOBAL_RACE,
        .reason = t->op->kind == PTX_KIND_ATOMIC ? REASON_ATOMIC : REASON_PLAIN,
        .line = t->op->line,
        .other_line = other_line,
        .thread = t->w->id * 32 + t->lane,
        .other = NOBODY,
        .other_block = who == SEVERAL ? UINT64_MAX : who - 1,
        .space = PTX_SPACE_GLOBAL,
        .address = t->w->worker->run->map.items[t->item].va + offset,
        .bytes = bytes,
        .element = t->op->width,
        .note = {this_reads, other_reads, 0, 0},
    };
    hazard_add(t->w, &finding);
}

static bool site_strong(const struct touch *t, uint16_t site)
{
    const struct op *op = hazard_site_op(t->w, site);
    return t->strong && op && hazard_is_strong(op);
}

static void read_word(struct touch *t, uint64_t word)
{
    struct hazard_memory *m = t->m;
    uint32_t writer = m->writer[word];
    if (!ordered(t, writer, m->write_epoch ? m->write_epoch[word] : 0) &&
        !site_strong(t, m->write_site[word]))
        report(t, word * 4, 4, m->write_site[word], writer, true, false);
    uint32_t reader = m->reader[word];
    bool alone = reader == 0 || reader == t->me || t->precise;
    if (!alone && t->strong && !site_strong(t, m->read_site[word]))
        return; /* remember the plain reader */
    m->reader[word] = alone ? t->me : SEVERAL;
    m->read_site[word] = shadow_site(t->op);
    if (m->read_epoch)
        m->read_epoch[word] = t->w->worker->hazard->global_epoch;
}

static void write_word(struct touch *t, uint64_t word, bool same_value)
{
    struct hazard_memory *m = t->m;
    m->any_write = true;
    uint32_t writer = m->writer[word], reader = m->reader[word];
    if (!ordered(t, writer, m->write_epoch ? m->write_epoch[word] : 0) && !same_value &&
        !site_strong(t, m->write_site[word]))
        report(t, word * 4, 4, m->write_site[word], writer, false, false);
    if (!ordered(t, reader, m->read_epoch ? m->read_epoch[word] : 0) &&
        !site_strong(t, m->read_site[word]))
        report(t, word * 4, 4, m->read_site[word], reader, false, true);
    bool alone = writer == 0 || writer == t->me || t->precise;
    m->writer[word] = alone ? t->me : SEVERAL;
    /* a plain store stays in view behind its block's own atomics: others' conflict with it */
    if (t->strong && writer == t->me && !site_strong(t, m->write_site[word]))
        return;
    m->write_site[word] = shadow_site(t->op);
    if (m->write_epoch)
        m->write_epoch[word] = t->w->worker->hazard->global_epoch;
}

static struct touch touch_of(struct warp *w, const struct op *op, uint32_t item)
{
    return (struct touch){.w = w,
                          .op = op,
                          .m = w->worker->run->map.hazard[item],
                          .item = item,
                          .me = (uint32_t)w->block->index + 1,
                          .strong = hazard_is_strong(op),
                          .precise = w->worker->run->hazard->precise};
}

/* Reads of bytes that nobody wrote are reported once a byte: the byte counts as written then. */
static void check_written(struct warp *w, const struct op *op, unsigned lane, uint32_t item,
                          uint64_t offset, uint64_t bytes)
{
    const struct ptx_memory *memory = &w->worker->run->map.items[item];
    if (!memory->written)
        return;
    bool unset = false;
    for (uint64_t i = offset; i < offset + bytes && i < memory->bytes; i++)
        if (!memory->written[i]) {
            unset = true;
            memory->written[i] = 1;
        }
    if (unset)
        hazard_add(w, &(struct hazard_finding){.kind = PTX_HAZARD_UNINITIALISED,
                                               .reason = REASON_GLOBAL,
                                               .line = op->line,
                                               .thread = w->id * 32 + lane,
                                               .other = NOBODY,
                                               .space = PTX_SPACE_GLOBAL,
                                               .address = memory->va + offset,
                                               .bytes = (uint32_t)bytes,
                                               .element = op->width});
}

/* The common read: whole words that no other block wrote. The place of a first read is kept, so
 * that words which several blocks have read are only looked at. False: look closer. */
static bool read_quick(const struct touch *t, uint64_t offset, uint64_t bytes)
{
    struct hazard_memory *m = t->m;
    uint64_t first = offset / 4, end = (offset + bytes) / 4;
    if (t->strong || t->precise || ((offset | bytes) & 3))
        return false;
    if (m->any_write) {
        for (uint64_t word = first; word < end; word++) {
            if (m->writer[word] && m->writer[word] != t->me)
                return false;
        }
    }
    const uint32_t *r = m->reader + first, me = t->me;
    if (bytes == 16 && ((r[0] == SEVERAL) | (r[0] == me)) & ((r[1] == SEVERAL) | (r[1] == me)) &
                           ((r[2] == SEVERAL) | (r[2] == me)) & ((r[3] == SEVERAL) | (r[3] == me)))
        return true;
    for (uint64_t word = first; word < end; word++) {
        uint32_t reader = m->reader[word];
        if (reader == SEVERAL || reader == t->me)
            continue;
        m->reader[word] = reader ? SEVERAL : t->me;
        m->read_site[word] = shadow_site(t->op);
    }
    return true;
}

static void touch_read(struct touch *t, uint64_t offset, uint64_t bytes)
{
    const uint8_t *written = t->w->worker->run->map.items[t->item].written;
    if (written && memchr(written + offset, 0, bytes))
        check_written(t->w, t->op, t->lane, t->item, offset, bytes);
    if (!t->m || read_quick(t, offset, bytes))
        return;
    t->reported = false;
    for (uint64_t word = offset / 4; t->m && word * 4 < offset + bytes; word++)
        read_word(t, word);
}

static void touch_write(struct touch *t, uint64_t offset, uint64_t bytes, const uint8_t *value)
{
    const struct ptx_memory *memory = &t->w->worker->run->map.items[t->item];
    if (t->w->block->hazard->source_items >> (t->item & 63) & 1)
        async_source_written(t->w, t->op, t->lane, (const uint8_t *)memory->host + offset,
                             memory->va + offset, bytes);
    t->reported = false;
    /* Sub-word stores of neighbours share a word without touching one another's bytes. */
    bool whole = !(offset & 3) && !(bytes & 3);
    for (uint64_t word = offset / 4; t->m && word * 4 < offset + bytes; word++) {
        bool same = value && !memcmp((const uint8_t *)memory->host + offset, value, bytes);
        if (whole)
            write_word(t, word, same);
        else
            t->m->write_site[word] = shadow_site(t->op);
    }
    if (memory->written)
        memset(memory->written + offset, 1, bytes);
}

/* ---- what handlers and copies call */

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
    const struct ptx_memory *memory = &w->worker->run->map.items[item];
    t.lane = lane;
    touch_write(&t, va - memory->va, bytes, NULL);
}

/* True when the row needs a closer look. */
static bool row_is_shared(const uint32_t *who, uint32_t me, uint64_t words)
{
    uint32_t other = 0;
    for (uint64_t i = 0; i < words; i++)
        other |= (uint32_t)(who[i] != 0) & (uint32_t)(who[i] != me);
    return other;
}

static void stamp_row(uint32_t *who, uint16_t *sites, uint32_t me, uint16_t site, uint64_t words)
{
    for (uint64_t i = 0; i < words; i++)
        who[i] = me;
    for (uint64_t i = 0; i < words; i++)
        sites[i] = site;
}

void hazard_global_read_item(struct warp *w, const struct op *op, uint32_t item, uint64_t offset,
                             uint32_t bytes)
{
    struct touch t = touch_of(w, op, item);
    const struct ptx_memory *memory = &w->worker->run->map.items[item];
    uint64_t word = offset / 4, words = 8 * (uint64_t)bytes;
    bool unset = memory->written && memchr(memory->written + offset, 0, 32 * (size_t)bytes);
    if (!unset && !t.m)
        return;
    if (!unset && !t.strong && !t.precise && !(offset & 3) && !(bytes & 3) &&
        !row_is_shared(t.m->writer + word, t.me, words) &&
        !row_is_shared(t.m->reader + word, t.me, words)) {
        stamp_row(t.m->reader + word, t.m->read_site + word, t.me, shadow_site(op), words);
        return;
    }
    for (t.lane = 0; t.lane < 32; t.lane++) {
        uint64_t at = offset + t.lane * (uint64_t)bytes;
        if (t.strong)
            strong(w, op, memory->va + at, true, false);
        touch_read(&t, at, bytes);
    }
}

static bool stored_bytes(const struct warp *w, const struct op *op, unsigned lane, uint32_t bytes,
                         uint8_t out[16])
{
    if (op->kind != PTX_KIND_STORE || (uint32_t)op->width * op->vec != bytes)
        return false;
    for (unsigned i = 0; i < op->vec; i++)
        memcpy(out + i * op->width,
               op->mode == 8 ? (const uint8_t *)(reg64(w, op->d[i]) + lane)
                             : (const uint8_t *)(reg32(w, op->d[i]) + lane),
               op->width);
    return true;
}

static void write_lane(struct touch *t, uint64_t offset, uint32_t bytes)
{
    uint8_t value[16];
    bool known = bytes <= 16 && stored_bytes(t->w, t->op, t->lane, bytes, value);
    touch_write(t, offset, bytes, known ? value : NULL);
}

void hazard_global_write_item(struct warp *w, const struct op *op, uint32_t item, uint64_t offset,
                              uint32_t bytes)
{
    struct touch t = touch_of(w, op, item);
    uint64_t word = offset / 4, words = 8 * (uint64_t)bytes;
    const struct ptx_memory *memory = &w->worker->run->map.items[item];
    bool watched = w->block->hazard->source_items >> (item & 63) & 1;
    if (!watched && !t.strong && !t.precise && !(offset & 3) && !(bytes & 3) &&
        (!t.m || (!row_is_shared(t.m->writer + word, t.me, words) &&
                  !row_is_shared(t.m->reader + word, t.me, words)))) {
        if (memory->written)
            memset(memory->written + offset, 1, 32 * (size_t)bytes);
        if (!t.m)
            return;
        t.m->any_write = true;
        stamp_row(t.m->writer + word, t.m->write_site + word, t.me, shadow_site(op), words);
        return;
    }
    for (t.lane = 0; t.lane < 32; t.lane++) {
        uint64_t at = offset + t.lane * (uint64_t)bytes;
        write_lane(&t, at, bytes);
        if (t.strong)
            strong(w, op, memory->va + at, false, true);
    }
}

static uint32_t item_at(struct warp *w, const struct op *op, uint64_t va, uint32_t bytes)
{
    uint32_t *hint = &w->worker->site_memory[op->site];
    if (!memory_find(&w->worker->run->map, va, bytes, hint))
        return UINT32_MAX;
    return *hint;
}

static void each_lane(struct warp *w, const struct op *op, uint32_t mask, const uint64_t addr[32],
                      uint32_t bytes, bool reads, bool writes)
{
    struct touch t = {.item = UINT32_MAX};
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint32_t item = item_at(w, op, addr[lane], bytes);
        if (item == UINT32_MAX)
            continue;
        if (item != t.item)
            t = touch_of(w, op, item);
        t.lane = lane;
        uint64_t offset = addr[lane] - w->worker->run->map.items[item].va;
        if (t.strong) {
            hazard_strong(w, op, lane, addr[lane], reads, writes);
            strong(w, op, addr[lane], reads, writes);
        }
        if (reads && !writes)
            touch_read(&t, offset, bytes);
        if (reads && writes)
            check_written(w, op, lane, item, offset, bytes);
        if (writes)
            write_lane(&t, offset, bytes);
    }
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
    if (nothing_to_check(w, op, mask, addr, bytes))
        return;
    each_lane(w, op, mask, addr, bytes, true, false);
}

void hazard_global_write_lanes(struct warp *w, const struct op *op, uint32_t mask,
                               const uint64_t addr[32], uint32_t bytes)
{
    each_lane(w, op, mask, addr, bytes, false, true);
}

void hazard_global_atomic_lanes(struct warp *w, const struct op *op, uint32_t mask,
                                const uint64_t addr[32], uint32_t bytes)
{
    each_lane(w, op, mask, addr, bytes, true, true);
}
