#include "harness/ptx/global_memory.h"

#include "harness/base/buf.h"
#include "harness/ptx/async.h"
#include "harness/ptx/footprint.h"
#include "harness/ptx/locks.h"
#include "harness/ptx/mem.h"
#include "harness/ptx/observed.h"
#include "harness/ptx/targets.h"

#include <stdlib.h>
#include <string.h>

/* A word remembers one writing and one reading block, or that there were several. In precise runs,
 * which have one worker and whose blocks may order one another, "several" would forget who, so
 * there the last one stays, with its epoch. Within the block that is remembered the same word has
 * keys of threads, to which the rules of shared memory apply (global_cells.c). */

enum { EPOCHS = UINT16_MAX, KNOWN_BLOCKS = 1 << 16 };

/* What an allocation's shadow has to tell apart. */
struct watch {
    bool precise, threads, constant; /* constant: some load takes the read-only path */
};

static struct hazard_memory *open_memory(uint64_t bytes, const struct watch *watch)
{
    struct hazard_memory *m = mem_zero(1, sizeof *m);
    m->words = (bytes + 3) / 4;
    m->writer = mem_zero(m->words, sizeof *m->writer);
    m->reader = mem_zero(m->words, sizeof *m->reader);
    m->write_site = mem_zero(m->words, sizeof *m->write_site);
    m->read_site = mem_zero(m->words, sizeof *m->read_site);
    if (watch->precise) {
        m->write_epoch = mem_zero(m->words, sizeof *m->write_epoch);
        m->read_epoch = mem_zero(m->words, sizeof *m->read_epoch);
    }
    if (watch->threads) {
        m->write_key = mem_zero(m->words, sizeof *m->write_key);
        m->read_key = mem_zero(m->words, sizeof *m->read_key);
        m->inner_write_site = mem_zero(m->words, sizeof *m->inner_write_site);
        m->inner_read_site = mem_zero(m->words, sizeof *m->inner_read_site);
    }
    if (watch->threads && watch->precise)
        m->readers = mem_zero(m->words, sizeof *m->readers);
    if (watch->constant)
        m->constant_site = mem_zero(m->words, sizeof *m->constant_site);
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
    free(m->write_key);
    free(m->read_key);
    free(m->readers);
    free(m->inner_write_site);
    free(m->inner_read_site);
    free(m->constant_site);
    free(m);
}

/* Bytes that all are written stay so: nothing to look at in this run. */
static void forget_written(struct ptx_memory *memory)
{
    if (memory->written && !memchr(memory->written, 0, memory->bytes))
        memory->written = NULL;
}

static bool has_constant_loads(const struct hazard_run *hazard)
{
    for (uint32_t i = 0; i < hazard->site_count; i++)
        if (hazard->sites[i] && hazard->sites[i]->flags & OP_NC)
            return true;
    return false;
}

void global_run_open(struct run *run)
{
    struct hazard_run *hazard = run->hazard;
    const uint32_t *size = run->launch->block;
    run->map.hazard = mem_zero(run->map.count + 1, sizeof *run->map.hazard);
    hazard->global_locks = locks_open(1);
    if (!run->checks)
        return;
    struct watch watch = {.precise = hazard->precise,
                          .threads = size[0] * size[1] * size[2] > 1,
                          .constant = has_constant_loads(hazard)};
    bool *written = mem_zero(run->map.count + 1, sizeof *written);
    targets_find(run, written);
    bool several = run->block_count > 1 || watch.threads;
    for (size_t i = 0; i < run->map.count; i++) {
        struct ptx_memory *memory = &run->map.items[i];
        forget_written(memory);
        bool wanted = footprint_wants(run, memory) || (several && written[i]);
        if (wanted && run->block_count < SEVERAL - 1)
            run->map.hazard[i] = open_memory(memory->bytes, &watch);
        hazard->watches_global |= memory->written || run->map.hazard[i];
    }
    free(written);
}

void global_run_close(struct run *run)
{
    for (size_t i = 0; run->map.hazard && i < run->map.count; i++)
        close_memory(run->map.hazard[i]);
    free(run->map.hazard);
    run->map.hazard = NULL;
    locks_close(run->hazard->global_locks);
}

bool global_words(struct global_words *out, const struct run *run, size_t item)
{
    const struct hazard_memory *m = run->map.hazard ? run->map.hazard[item] : NULL;
    if (!m)
        return false;
    *out = (struct global_words){m->words, m->writer, m->reader, m->write_site};
    return true;
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

void touch_strong(struct warp *w, const struct op *op, uint64_t va, bool reads, bool writes)
{
    struct hazard_worker *hazard = w->worker->hazard;
    struct hazard_run *run = w->worker->run->hazard;
    if (!hazard->global_known || op->scope < SCOPE_GPU)
        return;
    uint32_t blocks = (uint32_t)w->worker->run->block_count;
    const uint32_t *vector = reads ? locks_find(run->global_locks, va, false) : NULL;
    if (vector && !hazard_acquires(op)) {
        observed_add_blocks(w, vector);
        vector = NULL;
    }
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

static bool ordered(const struct touch *t, uint32_t who, uint16_t epoch)
{
    const uint16_t *known = t->w->worker->hazard->global_known;
    if (who == 0 || who == t->me)
        return true;
    return t->precise && (!known || epoch <= known[who - 1]);
}

/* Strong for other blocks, too. A cluster is one block here. */
static bool reaches_blocks(const struct op *op)
{
    return hazard_is_strong(op) && op->scope >= SCOPE_GPU;
}

/* Both would be safe if their scopes did not end at the block. */
static bool is_narrow(const struct touch *t, uint16_t site)
{
    const struct op *op = hazard_site_op(t->w, site);
    return op && hazard_is_strong(op) && t->strong;
}

static void report(struct touch *t, uint64_t offset, uint32_t bytes, uint16_t site, uint32_t who,
                   bool this_reads, bool other_reads)
{
    if (t->reported)
        return;
    t->reported = true;
    uint32_t other_line = hazard_site_line(t->w, site);
    uint16_t epoch = t->m->write_epoch ? t->m->write_epoch[offset / 4] : 0;
    bool seen = this_reads && t->precise && who != SEVERAL && t->op->kind != PTX_KIND_ATOMIC &&
                observed_covers_block(t->w, who - 1, epoch);
    struct hazard_finding finding = {
        .kind = PTX_HAZARD_GLOBAL_RACE,
        .reason = is_narrow(t, site)               ? REASON_NARROW
                  : seen                           ? REASON_NO_ACQUIRE
                  : t->op->kind == PTX_KIND_ATOMIC ? REASON_ATOMIC
                                                   : REASON_PLAIN,
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
    return op && reaches_blocks(t->op) && reaches_blocks(op);
}

static void read_word(struct touch *t, uint64_t word)
{
    struct hazard_memory *m = t->m;
    if (m->write_key && m->writer[word] != SEVERAL) {
        inner_enter(t, word);
        inner_read(t, word);
    }
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
    if (m->write_key && m->writer[word] != SEVERAL) {
        inner_enter(t, word);
        inner_write(t, word, same_value);
    }
    if (m->constant_site)
        constant_written(t, word);
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
    if (reaches_blocks(t->op) && writer == t->me && !site_strong(t, m->write_site[word]))
        return;
    m->write_site[word] = shadow_site(t->op);
    if (m->write_epoch)
        m->write_epoch[word] = t->w->worker->hazard->global_epoch;
}

struct touch touch_of(struct warp *w, const struct op *op, uint32_t item)
{
    const struct memory_map *map = &w->worker->run->map;
    bool is_strong = hazard_is_strong(op);
    return (struct touch){.w = w,
                          .op = op,
                          .m = map->hazard[item],
                          .item = item,
                          .me = (uint32_t)w->block->index + 1,
                          .strong = is_strong,
                          .precise = w->worker->run->hazard->precise,
                          .inner = {.w = w,
                                    .op = op,
                                    .block = w->block->hazard,
                                    .h = w->hazard,
                                    .strong = is_strong,
                                    .global = true,
                                    .va = map->items[item].va}};
}

/* Reads of bytes that nobody wrote are reported once a byte: the byte counts as written then. */
void touch_check_written(struct touch *t, uint64_t offset, uint64_t bytes)
{
    const struct ptx_memory *memory = &t->w->worker->run->map.items[t->item];
    if (!memory->written)
        return;
    bool unset = false;
    for (uint64_t i = offset; i < offset + bytes && i < memory->bytes; i++)
        if (!memory->written[i]) {
            unset = true;
            memory->written[i] = 1;
        }
    if (unset)
        hazard_add(t->w, &(struct hazard_finding){.kind = PTX_HAZARD_UNINITIALISED,
                                                  .reason = REASON_GLOBAL,
                                                  .line = t->op->line,
                                                  .thread = t->w->id * 32 + t->lane,
                                                  .other = NOBODY,
                                                  .space = PTX_SPACE_GLOBAL,
                                                  .address = memory->va + offset,
                                                  .bytes = (uint32_t)bytes,
                                                  .element = t->op->width});
}

/* The common read: whole words that no other block or thread wrote. The place of a first read is
 * kept, so that words which several blocks have read are only looked at. False: look closer. */
static bool read_quick(const struct touch *t, uint64_t offset, uint64_t bytes)
{
    struct hazard_memory *m = t->m;
    const uint64_t first = offset / 4, end = (offset + bytes) / 4;
    const uint16_t site = shadow_site(t->op);
    if (t->strong || ((offset | bytes) & 3))
        return false;
    for (uint64_t word = first; word < end; word++) {
        uint32_t writer = m->any_write ? m->writer[word] : 0, reader = m->reader[word];
        if (writer &&
            (writer != t->me || (m->write_key && !touch_is_ordered(t, m->write_key[word]))))
            return false;
        if (reader == t->me && m->read_key && !touch_is_ordered(t, m->read_key[word]))
            return false;
    }
    for (uint64_t word = first; word < end; word++) {
        uint32_t reader = m->reader[word];
        if (reader == SEVERAL)
            continue;
        if (reader != t->me) {
            m->reader[word] = reader && !t->precise ? SEVERAL : t->me;
            m->read_site[word] = site;
        }
        if (m->read_epoch) {
            m->read_site[word] = site;
            m->read_epoch[word] = t->w->worker->hazard->global_epoch;
        }
        if (!m->read_key)
            continue;
        m->read_key[word] = t->w->hazard->clock.mine + t->lane;
        m->inner_read_site[word] = site;
    }
    return true;
}

void touch_read(struct touch *t, uint64_t offset, uint64_t bytes)
{
    const uint8_t *written = t->w->worker->run->map.items[t->item].written;
    if (written && memchr(written + offset, 0, bytes))
        touch_check_written(t, offset, bytes);
    if (!t->m)
        return;
    t->reported = t->inner.reported = false;
    t->inner.lane = t->lane;
    for (uint64_t word = offset / 4; t->op->flags & OP_NC && word * 4 < offset + bytes; word++)
        constant_read(t, word);
    if (read_quick(t, offset, bytes))
        return;
    for (uint64_t word = offset / 4; word * 4 < offset + bytes; word++)
        read_word(t, word);
}

void touch_write(struct touch *t, uint64_t offset, uint64_t bytes, const uint8_t *value)
{
    const struct ptx_memory *memory = &t->w->worker->run->map.items[t->item];
    const uint8_t *host = (const uint8_t *)memory->host + offset;
    if (t->w->block->hazard->source_items >> (t->item & 63) & 1)
        async_source_written(t->w, t->op, t->lane, host, memory->va + offset, bytes);
    t->reported = t->inner.reported = false;
    t->inner.lane = t->lane;
    /* Sub-word stores of neighbours share a word without touching one another's bytes. */
    bool whole = !(offset & 3) && !(bytes & 3), same = value && !memcmp(host, value, bytes);
    for (uint64_t word = offset / 4; t->m && word * 4 < offset + bytes; word++) {
        if (whole)
            write_word(t, word, same);
        else
            t->m->write_site[word] = shadow_site(t->op);
    }
    if (memory->written)
        memset(memory->written + offset, 1, bytes);
}
