#include "harness/ptx/shadow.h"

#include "harness/base/buf.h"
#include "harness/ptx/async.h"
#include "harness/ptx/hazard.h"

#include <stdlib.h>
#include <string.h>

/* How to read this file: a *cell* is a word, or one byte of a split word; cell_read and cell_write
 * hold the rules, everything above them only finds cells. A write is checked for all lanes first
 * and stamped afterwards, so that lanes of one instruction are not taken for earlier accesses. */

enum { SLACK = 160 }; /* rows may be loaded a bit beyond the last word */

struct cell {
    uint32_t *write_key, *read_key, *readers;
    uint16_t *write_site, *read_site;
    uint32_t address, bytes;
};

struct access {
    struct warp *w;
    const struct op *op;
    struct hazard_block *block;
    struct hazard_warp *h;
    unsigned lane;
    bool strong;
    bool async;    /* a copy being issued */
    bool reported; /* one report per lane and word is enough */
};

/* ---- storage */

static void *fresh(void *old, size_t count, size_t size)
{
    free(old);
    void *memory = aligned_alloc(64, (count * size + 63) / 64 * 64);
    if (!memory)
        return mem_alloc(SIZE_MAX); /* says that memory ran out, and ends */
    memset(memory, 0, (count * size + 63) / 64 * 64);
    return memory;
}

void shadow_begin(struct shadow *s, uint32_t bytes, bool precise)
{
    uint32_t words = (bytes + 3) / 4;
    if (!s->write_key || words > s->capacity) {
        s->capacity = words;
        size_t count = (size_t)words + SLACK;
        s->write_key = fresh(s->write_key, count, sizeof *s->write_key);
        s->read_key = fresh(s->read_key, count, sizeof *s->read_key);
        s->write_site = fresh(s->write_site, count, sizeof *s->write_site);
        s->read_site = fresh(s->read_site, count, sizeof *s->read_site);
        s->readers = fresh(s->readers, count, sizeof *s->readers);
        s->has_bytes = false;
    }
    s->words = words;
    s->precise = precise;
    memset(s->write_key, 0xff, words * sizeof *s->write_key);
    memset(s->read_key, 0, words * sizeof *s->read_key);
    s->pool_count = s->pool_free = 0;
}

void shadow_free(struct shadow *s)
{
    free(s->write_key);
    free(s->read_key);
    free(s->write_site);
    free(s->read_site);
    free(s->readers);
    free(s->byte_write_key);
    free(s->byte_read_key);
    free(s->byte_write_site);
    free(s->byte_read_site);
    free(s->byte_readers);
    free(s->pool);
    memset(s, 0, sizeof *s);
}

void shadow_forget(struct shadow *s)
{
    for (uint32_t i = 0; i < s->words; i++) {
        if (s->write_key[i] < KEY_SPECIAL)
            s->write_key[i] = 0;
        if (s->read_key[i] < KEY_SPECIAL || s->read_key[i] == KEY_LIST)
            s->read_key[i] = 0;
    }
    for (uint32_t i = 0; s->has_bytes && i < 4 * s->words; i++) {
        if (s->byte_write_key[i] < KEY_SPECIAL)
            s->byte_write_key[i] = 0;
        s->byte_read_key[i] = 0;
    }
    s->pool_count = s->pool_free = 0;
}

static struct cell word_cell(struct shadow *s, uint32_t word)
{
    return (struct cell){s->write_key + word,
                         s->read_key + word,
                         s->readers + word,
                         s->write_site + word,
                         s->read_site + word,
                         word * 4,
                         4};
}

static struct cell byte_cell(struct shadow *s, uint32_t byte)
{
    return (struct cell){s->byte_write_key + byte,
                         s->byte_read_key + byte,
                         s->byte_readers + byte,
                         s->byte_write_site + byte,
                         s->byte_read_site + byte,
                         byte,
                         1};
}

/* ---- readers in several warps */

static uint32_t reader_new(struct shadow *s, struct shadow_reader reader)
{
    uint32_t index;
    if (s->pool_free) {
        index = s->pool_free - 1;
        s->pool_free = s->pool[index].next;
    } else {
        if (s->pool_count == s->pool_capacity) {
            s->pool_capacity = s->pool_capacity ? 2 * s->pool_capacity : 1024;
            s->pool = mem_grow(s->pool, s->pool_capacity, sizeof *s->pool);
        }
        index = s->pool_count++;
    }
    s->pool[index] = reader;
    return index + 1;
}

static void readers_drop(struct shadow *s, struct cell *cell)
{
    uint32_t at = *cell->readers;
    while (at) {
        uint32_t next = s->pool[at - 1].next;
        s->pool[at - 1].next = s->pool_free;
        s->pool_free = at;
        at = next;
    }
    *cell->readers = 0;
}

static uint32_t readers_copy(struct shadow *s, uint32_t at)
{
    if (!at)
        return 0;
    struct shadow_reader reader = s->pool[at - 1];
    reader.next = readers_copy(s, reader.next);
    return reader_new(s, reader);
}

/* One lane of the reader that is not ordered before this access; -1 when all are. */
static int reader_unordered(const struct access *a, const struct shadow_reader *reader)
{
    for (uint32_t left = reader->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (!clock_knows(&a->block->clock, a->w->id, a->lane, reader->warp * 32u + lane,
                         reader->epoch))
            return (int)lane;
    }
    return -1;
}

/* Adds this lane to the list; its warp's older readers go when they are ordered before. */
static void readers_add(const struct access *a, struct cell *cell)
{
    struct shadow *s = &a->block->shadow;
    uint32_t epoch = a->h->clock.mine >> KEY_WHO_BITS, bit = 1u << a->lane;
    for (uint32_t at = *cell->readers; at; at = s->pool[at - 1].next) {
        struct shadow_reader *reader = &s->pool[at - 1];
        if (reader->warp != a->w->id)
            continue;
        if (reader->epoch == epoch) {
            reader->lanes |= bit;
            reader->site = shadow_site(a->op);
            return;
        }
        if (reader_unordered(a, reader) < 0) {
            reader->epoch = epoch;
            reader->lanes = bit;
            reader->site = shadow_site(a->op);
            return;
        }
    }
    *cell->readers = reader_new(s, (struct shadow_reader){*cell->readers, epoch, bit,
                                                          shadow_site(a->op), (uint16_t)a->w->id});
}

/* A single or many key turns into a list with one entry. */
static void readers_begin(const struct access *a, struct cell *cell, uint32_t key)
{
    struct shadow *s = &a->block->shadow;
    uint32_t lanes = key_is_thread(key) ? 1u << (key & 31) : UINT32_MAX;
    *cell->readers = 0;
    *cell->readers =
        reader_new(s, (struct shadow_reader){0, key >> KEY_WHO_BITS, lanes, *cell->read_site,
                                             (uint16_t)key_warp(key)});
    *cell->read_key = KEY_LIST;
}

/* ---- rules */

/* The other side of a conflict. */
struct side {
    uint16_t site;
    uint32_t thread; /* or NOBODY: several of the warp */
    uint32_t warp;
};

static struct side side_of(const struct access *a, uint32_t key, uint16_t site)
{
    uint32_t thread = NOBODY;
    if (key_is_thread(key))
        thread = key & 1023;
    else if (key_is_many(key) || (key_is_several(key) && key_warp(key) != a->w->id))
        thread = key_warp(key) * 32 + (key_warp(key) == a->w->id && !a->lane);
    return (struct side){site, thread, thread == NOBODY ? NOBODY : thread / 32};
}

static struct hazard_finding finding_of(const struct access *a, const struct cell *cell,
                                        enum ptx_hazard_kind kind, enum hazard_reason reason,
                                        struct side other)
{
    return (struct hazard_finding){
        .kind = kind,
        .reason = reason,
        .line = a->op->line,
        .other_line = other.site == NO_SITE ? 0 : hazard_site_line(a->w, other.site),
        .thread = a->w->id * 32 + a->lane,
        .other = other.thread,
        .other_block = a->w->block->index,
        .space = PTX_SPACE_SHARED,
        .address = cell->address,
        .bytes = cell->bytes,
        .element = a->op->width ? a->op->width : 4,
    };
}

/* Reports from the other side's point of view when `turn` is set. */
static void report(struct access *a, const struct cell *cell, enum ptx_hazard_kind kind,
                   enum hazard_reason reason, struct side other, bool turn)
{
    if (a->reported)
        return;
    a->reported = true;
    a->block->raced[cell->address / 4] = 1;
    struct hazard_finding finding = finding_of(a, cell, kind, reason, other);
    if (turn && finding.other != NOBODY) {
        uint32_t line = finding.line, thread = finding.thread;
        finding.line = finding.other_line;
        finding.thread = finding.other;
        finding.other_line = line;
        finding.other = thread;
    }
    hazard_add(a->w, &finding);
}

static void report_unset(struct access *a, const struct cell *cell, enum hazard_reason reason)
{
    if (a->reported)
        return;
    a->reported = true;
    struct hazard_finding finding = finding_of(a, cell, PTX_HAZARD_UNINITIALISED, reason,
                                               (struct side){NO_SITE, NOBODY, NOBODY});
    hazard_add_unset(a->w, &finding);
}

static bool same_warp(const struct access *a, uint32_t key)
{
    return (key_is_thread(key) || key_is_many(key)) && key_warp(key) == a->w->id;
}

static bool site_is_strong(const struct access *a, uint16_t site)
{
    const struct op *op = hazard_site_op(a->w, site);
    return op && hazard_is_strong(op);
}

static bool site_is_copy(const struct access *a, uint16_t site)
{
    const struct op *op = hazard_site_op(a->w, site);
    return op && op->kind == PTX_KIND_ASYNC;
}

static bool site_is_atomic(const struct access *a, uint16_t site)
{
    const struct op *op = hazard_site_op(a->w, site);
    return op && op->kind == PTX_KIND_ATOMIC;
}

/* ---- which of the two should have come first ----
 *
 * A read and a write that nothing orders are one bug, whichever the simulator happened to run
 * first; but what is missing is either "the value was not there yet" or "it was still needed". The
 * threads' own programs tell: one that stores and then reads, between two barriers, expects the
 * others to have stored as well; one that reads and then stores overwrites what the others have yet
 * to read. */

enum sense { SENSE_UNKNOWN, SENSE_TOO_EARLY, SENSE_TOO_LATE }; /* of the read */

/* When did this warp last run anything at the place of `site`, since the barrier? 0: not. */
static uint32_t last_seen(const struct access *a, uint32_t warp, uint16_t site, bool near)
{
    const struct hazard_run *run = a->w->worker->run->hazard;
    if (warp == NOBODY || site >= run->site_count)
        return 0;
    const struct hazard_warp *h = &a->block->warps[warp];
    uint32_t from = near ? h->own_interval : h->interval, newest = 0, at = site;
    do {
        if (h->seen[at] >= from && h->seen[at] > newest)
            newest = h->seen[at];
        at = run->next_twin[at];
    } while (at != site);
    return newest;
}

/* Each warp's own order of the two places. now: the place that its current access is. */
static enum sense sense_of_warp(const struct access *a, uint32_t warp, uint16_t write,
                                uint16_t read, bool near)
{
    uint32_t w = last_seen(a, warp, write, near), r = last_seen(a, warp, read, near);
    return !w || !r ? SENSE_UNKNOWN : w < r ? SENSE_TOO_EARLY : SENSE_TOO_LATE;
}

static enum sense sense_of(const struct access *a, struct side other, bool reading, bool unset)
{
    uint16_t mine = shadow_site(a->op);
    uint16_t write = reading ? other.site : mine, read = reading ? mine : other.site;
    bool near = other.warp == a->w->id;
    enum sense here = sense_of_warp(a, a->w->id, write, read, near);
    enum sense there = near ? here : sense_of_warp(a, other.warp, write, read, near);
    if (here == SENSE_UNKNOWN || there == SENSE_UNKNOWN)
        here = here == SENSE_UNKNOWN ? there : here;
    else if (here != there)
        here = SENSE_UNKNOWN;
    if (here == SENSE_UNKNOWN)
        here = reading || unset ? SENSE_TOO_EARLY : SENSE_TOO_LATE;
    return here;
}

/* A read and a write, this access being one of them, that nothing orders. */
static void report_read_and_write(struct access *a, struct cell *cell, struct side other,
                                  bool reading, bool unset, bool engine)
{
    bool copied = reading ? site_is_copy(a, other.site) : a->async;
    bool near = other.warp == a->w->id;
    bool early = sense_of(a, other, reading, unset) == SENSE_TOO_EARLY;
    bool atomic = reading ? site_is_atomic(a, other.site) : a->op->kind == PTX_KIND_ATOMIC;
    enum ptx_hazard_kind kind;
    enum hazard_reason reason = engine ? REASON_BULK : near ? REASON_SAME_WARP : REASON_PLAIN;
    if (copied) {
        kind = early ? PTX_HAZARD_NOT_PUBLISHED : PTX_HAZARD_REFILL;
    } else if (near) {
        kind = PTX_HAZARD_LOCKSTEP;
        reason = early ? REASON_PLAIN : REASON_STORE;
    } else {
        kind = early ? PTX_HAZARD_RACE_READ_AFTER_WRITE : PTX_HAZARD_RACE_WRITE_AFTER_READ;
        reason = atomic ? REASON_ATOMIC : REASON_PLAIN;
    }
    report(a, cell, kind, reason, other, reading != early);
}

static void report_two_writes(struct access *a, struct cell *cell, struct side other)
{
    const struct ptx_line *lines = a->w->worker->run->func->module->lines;
    const struct op *op = hazard_site_op(a->w, other.site);
    bool copied = site_is_copy(a, other.site), near = other.warp == a->w->id;
    bool mine = a->op->kind == PTX_KIND_ATOMIC, theirs = site_is_atomic(a, other.site);
    enum hazard_reason reason = a->async || copied ? REASON_COPY
                                : mine || theirs   ? REASON_ATOMIC
                                                   : REASON_PLAIN;
    bool turn = reason == REASON_ATOMIC ? !mine
                : reason == REASON_COPY ? !a->async
                                        : op && lines[op->line].line > lines[a->op->line].line;
    bool lockstep = near && reason == REASON_PLAIN;
    report(a, cell, lockstep ? PTX_HAZARD_LOCKSTEP : PTX_HAZARD_RACE_WRITE_AFTER_WRITE, reason,
           other, turn);
}

/* A write that nothing orders before this access. */
static void conflict_with_write(struct access *a, struct cell *cell, bool reading, bool same_value)
{
    uint32_t key = *cell->write_key;
    struct side other = side_of(a, key, *cell->write_site);
    bool near = other.warp == a->w->id;
    if (a->strong && site_is_strong(a, other.site) && !(near && a->op->sem == SEM_VOLATILE))
        return;
    if (!reading && same_value && !site_is_copy(a, other.site))
        return;
    if (reading)
        report_read_and_write(a, cell, other, true, false, key_is_async(key));
    else
        report_two_writes(a, cell, other);
}

/* A write to bytes, or a read of bytes, that a copy has not delivered. */
static void conflict_with_copy(struct access *a, struct cell *cell, bool reading)
{
    uint32_t owner = *cell->write_key & 1023;
    struct side other = {*cell->write_site, owner, owner / 32};
    const struct op *copy = hazard_site_op(a->w, other.site);
    bool bulk = copy && a->w->worker->hazard->bulk_sites[copy->site];
    if (a->async) {
        report(a, cell, PTX_HAZARD_RACE_WRITE_AFTER_WRITE, REASON_COPY, other, false);
        return;
    }
    if (!reading) {
        report(a, cell, PTX_HAZARD_IN_FLIGHT, REASON_STORE, other, false);
        return;
    }
    uint32_t issued = async_issue_epoch(a->w->block, owner, cell->address);
    if (!clock_knows(&a->block->clock, a->w->id, a->lane, owner, issued) &&
        sense_of(a, other, true, false) == SENSE_TOO_LATE)
        report(a, cell, PTX_HAZARD_REFILL, other.warp == a->w->id ? REASON_SAME_WARP : REASON_PLAIN,
               other, true);
    else
        report(a, cell, PTX_HAZARD_IN_FLIGHT, bulk ? REASON_BULK : REASON_PLAIN, other, false);
}

static void cell_read(struct access *a, struct cell *cell)
{
    const struct clock *clock = &a->block->clock;
    uint32_t key = *cell->write_key, mine = a->h->clock.mine + a->lane;
    if (key == KEY_UNSET)
        report_unset(a, cell, REASON_PLAIN);
    else if (key_is_pending(key))
        conflict_with_copy(a, cell, true);
    else if (key != mine && !clock_ordered(clock, a->w->id, a->lane, key))
        conflict_with_write(a, cell, true, false);

    uint32_t read = *cell->read_key;
    if (read == KEY_LIST) {
        readers_add(a, cell);
        return;
    }
    if (read == mine || clock_ordered(clock, a->w->id, a->lane, read)) {
        *cell->read_key = mine;
        *cell->read_site = shadow_site(a->op);
        return;
    }
    if (a->h->precise) {
        readers_begin(a, cell, read);
        readers_add(a, cell);
        return;
    }
    /* a plain reader is the one to remember: strong ones conflict with less */
    if (!a->strong || site_is_strong(a, *cell->read_site))
        *cell->read_site = shadow_site(a->op);
    *cell->read_key = same_warp(a, read) ? a->h->clock.many : a->h->clock.many | WHO_SEVERAL;
}

static void conflict_with_read(struct access *a, struct cell *cell, struct side other)
{
    bool near = other.warp == a->w->id;
    if (a->strong && site_is_strong(a, other.site) && !(near && a->op->sem == SEM_VOLATILE))
        return;
    report_read_and_write(a, cell, other, false, *cell->write_key == KEY_UNSET, false);
}

/* Checks a write; stamping comes later. False: leave the cell alone, a copy will still land on it.
 */
static bool cell_write(struct access *a, struct cell *cell, bool same_value)
{
    const struct clock *clock = &a->block->clock;
    uint32_t key = *cell->write_key, mine = a->h->clock.mine + a->lane;
    bool stamp = true;
    if (key_is_pending(key)) {
        conflict_with_copy(a, cell, false);
        stamp = a->async;
    } else if (key != KEY_UNSET && key != mine && !clock_ordered(clock, a->w->id, a->lane, key)) {
        conflict_with_write(a, cell, false, same_value);
    }
    uint32_t read = *cell->read_key;
    if (read == KEY_LIST) {
        const struct shadow *s = &a->block->shadow;
        for (uint32_t at = *cell->readers; at; at = s->pool[at - 1].next) {
            const struct shadow_reader *reader = &s->pool[at - 1];
            int lane = reader_unordered(a, reader);
            if (lane >= 0)
                conflict_with_read(
                    a, cell,
                    (struct side){reader->site, reader->warp * 32u + (uint32_t)lane, reader->warp});
        }
    } else if (read != mine && !clock_ordered(clock, a->w->id, a->lane, read)) {
        conflict_with_read(a, cell, side_of(a, read, *cell->read_site));
    }
    return stamp;
}

/* After a write that was ordered behind all readers nobody needs them any more; after one that was
 * not they have been reported. */
static void cell_stamp(struct access *a, struct cell *cell, uint32_t key)
{
    if (*cell->read_key == KEY_LIST) {
        readers_drop(&a->block->shadow, cell);
        *cell->read_key = 0;
    }
    /* A plain store stays in view behind one's own atomic until the block's next barrier: it is
     * what other atomics conflict with. */
    if (a->strong && key_is_thread(key) && ((*cell->write_key ^ key) & KEY_WHO) == 0 &&
        *cell->write_key >= a->h->clock.floor && *cell->write_key < KEY_SPECIAL &&
        !site_is_strong(a, *cell->write_site))
        return;
    *cell->write_site = shadow_site(a->op);
    *cell->write_key = key;
}

/* ---- words and bytes */

static void make_bytes(struct shadow *s)
{
    if (s->has_bytes)
        return;
    size_t count = 4 * ((size_t)s->capacity + SLACK);
    s->byte_write_key = fresh(s->byte_write_key, count, sizeof *s->byte_write_key);
    s->byte_read_key = fresh(s->byte_read_key, count, sizeof *s->byte_read_key);
    s->byte_write_site = fresh(s->byte_write_site, count, sizeof *s->byte_write_site);
    s->byte_read_site = fresh(s->byte_read_site, count, sizeof *s->byte_read_site);
    s->byte_readers = fresh(s->byte_readers, count, sizeof *s->byte_readers);
    s->has_bytes = true;
}

/* Gives the word's bytes keys of their own. A word in flight stays whole. */
static bool split_word(struct shadow *s, uint32_t word)
{
    if (s->write_key[word] == KEY_SPLIT)
        return true;
    if (key_is_pending(s->write_key[word]))
        return false;
    make_bytes(s);
    for (uint32_t byte = word * 4; byte < word * 4 + 4; byte++) {
        s->byte_write_key[byte] = s->write_key[word];
        s->byte_write_site[byte] = s->write_site[word];
        s->byte_read_key[byte] = s->read_key[word];
        s->byte_read_site[byte] = s->read_site[word];
        s->byte_readers[byte] =
            s->read_key[word] == KEY_LIST ? readers_copy(s, s->readers[word]) : 0;
    }
    if (s->read_key[word] == KEY_LIST) {
        struct cell cell = word_cell(s, word);
        readers_drop(s, &cell);
    }
    s->write_key[word] = s->read_key[word] = KEY_SPLIT;
    return true;
}

static void join_word(struct shadow *s, uint32_t word)
{
    for (uint32_t byte = word * 4; byte < word * 4 + 4; byte++)
        if (s->byte_read_key[byte] == KEY_LIST) {
            struct cell cell = byte_cell(s, byte);
            readers_drop(s, &cell);
            s->byte_read_key[byte] = 0;
        }
    s->read_key[word] = 0;
}

static void read_range(struct access *a, uint32_t addr, uint32_t bytes)
{
    struct shadow *s = &a->block->shadow;
    for (uint32_t word = addr / 4; word * 4 < addr + bytes; word++) {
        uint32_t from = word * 4 > addr ? word * 4 : addr;
        uint32_t to = word * 4 + 4 < addr + bytes ? word * 4 + 4 : addr + bytes;
        a->reported = false;
        bool whole = to - from == 4;
        if ((whole && s->write_key[word] != KEY_SPLIT) || (!whole && !split_word(s, word))) {
            struct cell cell = word_cell(s, word);
            cell_read(a, &cell);
            continue;
        }
        for (uint32_t byte = from; byte < to; byte++) {
            struct cell cell = byte_cell(s, byte);
            cell_read(a, &cell);
        }
    }
}

/* What a lane is about to store, in the order of memory. False: not known from the operation. */
static bool new_bytes(const struct warp *w, const struct op *op, unsigned lane, uint32_t bytes,
                      uint8_t out[16])
{
    if (op->kind != PTX_KIND_STORE || (uint32_t)op->width * op->vec != bytes)
        return false;
    for (unsigned i = 0; i < op->vec; i++) {
        const uint8_t *reg = op->mode == 8 ? (const uint8_t *)(reg64(w, op->d[i]) + lane)
                                           : (const uint8_t *)(reg32(w, op->d[i]) + lane);
        memcpy(out + i * op->width, reg, op->width);
    }
    return true;
}

enum write_step { WRITE_CHECK, WRITE_STAMP };

/* value: NULL when unknown. */
static void write_range(struct access *a, enum write_step step, uint32_t key, uint32_t addr,
                        uint32_t bytes, const uint8_t *value)
{
    struct shadow *s = &a->block->shadow;
    const uint8_t *memory = a->w->block->shared;
    for (uint32_t word = addr / 4; word * 4 < addr + bytes; word++) {
        uint32_t from = word * 4 > addr ? word * 4 : addr;
        uint32_t to = word * 4 + 4 < addr + bytes ? word * 4 + 4 : addr + bytes;
        a->reported = false;
        bool whole = to - from == 4, split = s->write_key[word] == KEY_SPLIT;
        if (!whole && !split)
            split = split_word(s, word);
        if (!split) {
            struct cell cell = word_cell(s, word);
            bool same = value && !memcmp(value + (from - addr), memory + from, to - from);
            if (step == WRITE_CHECK)
                cell_write(a, &cell, same);
            else if (!key_is_pending(*cell.write_key) || a->async)
                cell_stamp(a, &cell, key);
            continue;
        }
        for (uint32_t byte = from; byte < to; byte++) {
            struct cell cell = byte_cell(s, byte);
            bool same = value && value[byte - addr] == memory[byte];
            if (step == WRITE_CHECK)
                cell_write(a, &cell, same);
            else
                cell_stamp(a, &cell, key);
        }
        if (step == WRITE_STAMP && whole) {
            join_word(s, word);
            struct cell cell = word_cell(s, word);
            *cell.write_key = key;
            *cell.write_site = shadow_site(a->op);
        }
    }
}

static struct access access_of(struct warp *w, const struct op *op)
{
    return (struct access){.w = w,
                           .op = op,
                           .block = w->block->hazard,
                           .h = w->hazard,
                           .strong = hazard_is_strong(op)};
}

/* Lanes of one warp that read the same words; false: look lane by lane. Two or more lanes. */
static bool read_together(struct hazard_warp *h, uint32_t addr, uint32_t bytes, uint16_t site)
{
    const uint32_t floor = h->clock.floor, end = (addr + bytes) / 4;
    if (h->precise || bytes < 4 || addr & 3)
        return false;
    for (uint32_t word = addr / 4; word < end; word++)
        if (h->write_key[word] >= floor)
            return false;
    for (uint32_t word = addr / 4; word < end; word++) {
        uint32_t read = h->read_key[word];
        bool near = ((read ^ h->clock.mine) & 0x3e0) == 0 && (read & 0x401) != 0x401;
        h->read_key[word] = read < floor || near ? h->clock.many : h->clock.many | WHO_SEVERAL;
        h->read_site[word] = site;
    }
    return true;
}

/* One lane's words when they are clean; false: look closer. */
static bool read_alone(const struct access *a, uint32_t addr, uint32_t bytes, uint16_t site)
{
    const struct hazard_warp *h = a->h;
    const uint32_t floor = h->clock.floor, mine = h->clock.mine + a->lane;
    if (bytes < 4 || addr & 3 || a->strong)
        return false;
    for (uint32_t word = addr / 4; word < (addr + bytes) / 4; word++) {
        uint32_t key = h->write_key[word], read = h->read_key[word];
        if (key >= floor && key != mine)
            return false;
        if (read >= floor && read != mine) {
            if (h->precise || read >= KEY_SPECIAL)
                return false;
            /* several readers; whether they are ordered only makes a difference within a warp */
            bool near = ((read ^ mine) & 0x3e0) == 0 && (read & 0x401) != 0x401;
            h->read_key[word] = !near                       ? h->clock.many | WHO_SEVERAL
                                : read < h->clock.own_floor ? mine
                                                            : h->clock.many;
        } else {
            h->read_key[word] = mine;
        }
        h->read_site[word] = site;
    }
    return true;
}

void shadow_read_lanes(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                       uint32_t bytes)
{
    struct access a = access_of(w, op);
    const uint16_t site = shadow_site(op);
    for (uint32_t left = mask; left;) {
        a.lane = (unsigned)__builtin_ctz(left);
        uint32_t at = addr[a.lane], rest = left & (left - 1), behind = rest;
        while (rest && addr[__builtin_ctz(rest)] == at)
            rest &= rest - 1; /* the lanes that follow and want the same */
        if (rest != behind && !a.strong && read_together(a.h, at, bytes, site)) {
            left = rest;
            continue;
        }
        left = behind;
        if (a.strong && a.h->precise)
            hazard_strong(w, op, a.lane, SHARED_WINDOW + at, true, false);
        if (!read_alone(&a, at, bytes, site))
            read_range(&a, at, bytes);
    }
}

void shadow_read_row_slow(struct warp *w, const struct op *op, uint32_t first, uint32_t bytes)
{
    uint32_t addr[32];
    for (uint32_t i = 0; i < 32; i++)
        addr[i] = first + i * bytes;
    shadow_read_lanes(w, op, FULL_MASK, addr, bytes);
}

void shadow_read_same_slow(struct warp *w, const struct op *op, uint32_t mask, uint32_t addr,
                           uint32_t bytes)
{
    uint32_t all[32];
    for (uint32_t i = 0; i < 32; i++)
        all[i] = addr;
    shadow_read_lanes(w, op, mask, all, bytes);
}

/* Two lanes of one store at one address: which value stays is undefined. */
static void check_twins(struct access *a, uint32_t mask, const uint32_t addr[32], uint32_t bytes)
{
    const struct shadow *s = &a->block->shadow;
    uint32_t word = addr[a->lane] / 4;
    uint32_t key =
        s->write_key[word] == KEY_SPLIT ? s->byte_write_key[addr[a->lane]] : s->write_key[word];
    uint32_t other =
        key - a->h->clock.mine; /* its lane, when the key is this warp's and this epoch's */
    if (other >= a->lane || !(mask >> other & 1) || addr[other] != addr[a->lane])
        return;
    uint8_t mine[16], theirs[16];
    if (!new_bytes(a->w, a->op, a->lane, bytes, mine) ||
        !new_bytes(a->w, a->op, other, bytes, theirs) || !memcmp(mine, theirs, bytes))
        return;
    struct cell cell = {.address = addr[a->lane], .bytes = bytes};
    a->reported = false;
    report(a, &cell, PTX_HAZARD_RACE_WRITE_AFTER_WRITE, REASON_SAME_INSTRUCTION,
           (struct side){shadow_site(a->op), a->w->id * 32 + other, a->w->id}, false);
}

void shadow_write_lanes(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                        uint32_t bytes)
{
    struct access a = access_of(w, op);
    const struct hazard_warp *h = a.h;
    const uint32_t floor = h->clock.floor;
    for (uint32_t left = mask; left; left &= left - 1) {
        a.lane = (unsigned)__builtin_ctz(left);
        uint32_t at = addr[a.lane], mine = h->clock.mine + a.lane;
        bool clean = bytes >= 4 && !(at & 3);
        for (uint32_t word = at / 4; clean && word < (at + bytes) / 4; word++) {
            uint32_t key = h->write_key[word], read = h->read_key[word];
            clean =
                (key < floor || key == mine || key == KEY_UNSET) && (read < floor || read == mine);
        }
        if (clean)
            continue;
        uint8_t value[16];
        bool known = new_bytes(w, op, a.lane, bytes, value);
        write_range(&a, WRITE_CHECK, 0, at, bytes, known ? value : NULL);
    }
    for (uint32_t left = a.strong && h->precise ? mask : 0; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        hazard_strong(w, op, lane, SHARED_WINDOW + addr[lane], false, true);
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        a.lane = (unsigned)__builtin_ctz(left);
        check_twins(&a, mask, addr, bytes);
        uint32_t word = addr[a.lane] / 4, key = h->clock.mine + a.lane;
        if (bytes != 4 || h->write_key[word] >= KEY_PENDING || h->read_key[word] >= KEY_SPECIAL) {
            write_range(&a, WRITE_STAMP, key, addr[a.lane], bytes, NULL);
            continue;
        }
        h->write_key[word] = key;
        h->write_site[word] = shadow_site(op);
    }
    if (w->block->hazard->sources_in_shared)
        for (uint32_t left = mask; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            async_shared_written(w, op, lane, addr[lane], bytes);
        }
}

void shadow_write_row_slow(struct warp *w, const struct op *op, uint32_t first, uint32_t bytes)
{
    uint32_t addr[32];
    for (uint32_t i = 0; i < 32; i++)
        addr[i] = first + i * bytes;
    shadow_write_lanes(w, op, FULL_MASK, addr, bytes);
}

/* Atomics of different threads on one word, which nothing orders, are several writers: a plain read
 * by the last of them is as much a race as by anybody else. */
void shadow_atomic_lanes(struct warp *w, const struct op *op, uint32_t mask,
                         const uint32_t addr[32], uint32_t bytes)
{
    struct access a = access_of(w, op);
    struct shadow *s = &a.block->shadow;
    for (uint32_t left = mask; left; left &= left - 1) {
        a.lane = (unsigned)__builtin_ctz(left);
        uint32_t at = addr[a.lane];
        hazard_strong(w, op, a.lane, SHARED_WINDOW + at, true, true);
        uint32_t mine = a.h->clock.mine + a.lane, key = mine;
        uint32_t before = s->write_key[at / 4];
        if (before == KEY_UNSET && bytes >= 4)
            report_unset(&a, &(struct cell){.address = at, .bytes = bytes}, REASON_ATOMIC);
        a.reported = false;
        if (!a.h->precise && before < KEY_SPECIAL && before != mine &&
            !clock_ordered(&a.block->clock, w->id, a.lane, before))
            key = same_warp(&a, before) ? a.h->clock.many : a.h->clock.many | WHO_SEVERAL;
        write_range(&a, WRITE_CHECK, 0, at, bytes, NULL);
        write_range(&a, WRITE_STAMP, key, at, bytes, NULL);
    }
}

static bool issue_clean(const struct hazard_warp *h, unsigned lane, uint32_t addr, uint32_t bytes,
                        uint32_t pending, uint16_t site)
{
    uint32_t floor = h->clock.floor, mine = h->clock.mine + lane, end = (addr + bytes) / 4;
    for (uint32_t word = addr / 4; word < end; word++) {
        uint32_t key = h->write_key[word], read = h->read_key[word];
        if ((key >= floor && key != mine && key != KEY_UNSET) || (read >= floor && read != mine))
            return false;
    }
    for (uint32_t word = addr / 4; word < end; word++) {
        h->write_key[word] = pending;
        h->write_site[word] = site;
    }
    return true;
}

void shadow_issue(struct warp *w, const struct op *op, unsigned lane, uint32_t addr, uint32_t bytes)
{
    struct access a = access_of(w, op);
    a.lane = lane;
    a.async = true;
    a.strong = false;
    uint32_t key = KEY_PENDING | (w->id * 32 + lane);
    if (issue_clean(a.h, lane, addr, bytes, key, shadow_site(op)))
        return;
    write_range(&a, WRITE_CHECK, 0, addr, bytes, NULL);
    write_range(&a, WRITE_STAMP, key, addr, bytes, NULL);
}

void shadow_land(struct shadow *s, uint32_t thread, uint32_t key, uint16_t site, uint32_t addr,
                 uint32_t bytes)
{
    for (uint32_t word = addr / 4; word < (addr + bytes) / 4; word++)
        if (s->write_key[word] == (KEY_PENDING | thread)) {
            s->write_key[word] = key;
            s->write_site[word] = site;
        }
}

/* The copy engine sees what threads stored only behind a fence.proxy.async: of the thread that
 * stored, or of the one that starts the copy once it knows of the store. */
static void check_proxy(struct access *a, uint32_t addr, uint32_t bytes)
{
    const struct shadow *s = &a->block->shadow;
    const uint32_t known = a->block->proxy_all[a->w->id * 32 + a->lane];
    for (uint32_t word = addr / 4; word < (addr + bytes) / 4; word++) {
        bool split = s->write_key[word] == KEY_SPLIT;
        uint32_t key = split ? s->byte_write_key[4 * word] : s->write_key[word];
        uint16_t site = split ? s->byte_write_site[4 * word] : s->write_site[word];
        if (!key_is_thread(key) || site_is_copy(a, site))
            continue;
        uint32_t epoch = key >> KEY_WHO_BITS;
        if (epoch <= known || epoch <= a->block->proxy_own[key & 1023])
            continue;
        struct cell cell = {.address = word * 4, .bytes = 4};
        a->reported = false;
        report(a, &cell, PTX_HAZARD_PROXY_FENCE, REASON_PLAIN,
               (struct side){site, key & 1023, (key & 1023) / 32}, false);
    }
}

void shadow_engine_read(struct warp *w, const struct op *op, unsigned lane, uint32_t addr,
                        uint32_t bytes)
{
    struct access a = access_of(w, op);
    a.lane = lane;
    read_range(&a, addr, bytes);
    check_proxy(&a, addr, bytes);
}
