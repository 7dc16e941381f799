#include "harness/ptx/async.h"
#include "harness/ptx/cell.h"

#include <string.h>

/* From a warp's addresses to cells. Each function tries the clean case on whole words first and
 * goes through cell.h's rules only where something is to be looked at. */

static void read_range(struct access *a, uint32_t addr, uint32_t bytes)
{
    struct shadow *s = &a->block->shadow;
    for (uint32_t word = addr / 4; word * 4 < addr + bytes; word++) {
        uint32_t from = word * 4 > addr ? word * 4 : addr;
        uint32_t to = word * 4 + 4 < addr + bytes ? word * 4 + 4 : addr + bytes;
        a->reported = false;
        bool whole = to - from == 4;
        if ((whole && s->write_key[word] != KEY_SPLIT) || (!whole && !word_split(s, word))) {
            struct cell cell = cell_of_word(s, word);
            cell_read(a, &cell);
            continue;
        }
        for (uint32_t byte = from; byte < to; byte++) {
            struct cell cell = cell_of_byte(s, byte);
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
            split = word_split(s, word);
        if (!split) {
            struct cell cell = cell_of_word(s, word);
            bool same = value && !memcmp(value + (from - addr), memory + from, to - from);
            if (step == WRITE_CHECK)
                cell_write(a, &cell, same);
            else if (!key_is_pending(*cell.write_key) || a->async)
                cell_stamp(a, &cell, key);
            continue;
        }
        for (uint32_t byte = from; byte < to; byte++) {
            struct cell cell = cell_of_byte(s, byte);
            bool same = value && value[byte - addr] == memory[byte];
            if (step == WRITE_CHECK)
                cell_write(a, &cell, same);
            else
                cell_stamp(a, &cell, key);
        }
        if (step == WRITE_STAMP && whole) {
            word_join(s, word);
            struct cell cell = cell_of_word(s, word);
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
    conflict_report(a, &cell, PTX_HAZARD_RACE_WRITE_AFTER_WRITE, REASON_SAME_INSTRUCTION,
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
            conflict_report_unset(&a, &(struct cell){.address = at, .bytes = bytes}, REASON_ATOMIC);
        a.reported = false;
        if (!a.h->precise && before < KEY_SPECIAL && before != mine &&
            !clock_ordered(&a.block->clock, w->id, a.lane, before))
            key = key_is_near(&a, before) ? a.h->clock.many : a.h->clock.many | WHO_SEVERAL;
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
        conflict_report(a, &cell, PTX_HAZARD_PROXY_FENCE, REASON_PLAIN,
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
