/* The checks of shared memory on the hot path: hooks that the handlers call, which recognise the
 * clean case as vectors and hand over everything else (shadow_lanes.c).
 *
 * Compiled once per instruction set together with the handlers. Nothing is owned.
 *
 * What a hook is called with stands in exec.h; nothing here reports anything. */
#ifndef STRIDE_PTX_HAZARD_SHARED_H
#define STRIDE_PTX_HAZARD_SHARED_H

#include "harness/ptx/hazard.h"

#define V32_ALL ((uint32_t)((1ull << V32_LANES) - 1))

/* Same warp, and ordered by a __syncwarp: lanes of k are threads (or, where `many` says so,
 * several) of this warp below own_floor. */
static inline vs32 hazard_own(vu32 k, vu32 mine, vu32 own_floor)
{
    return (((k ^ mine) & v32_set(0x7e0)) == v32_set(0)) & (vs32)(k < own_floor);
}

static inline void hazard_shared_read_row(struct warp *w, const struct op *op, uint32_t first,
                                          uint32_t bytes)
{
    if (w->counting)
        counters_shared_row(w, op, bytes);
    if (!w->checks)
        return;
    struct hazard_warp *h = w->hazard;
    hazard_note(h, op);
    if (h->precise && op->sem != SEM_WEAK) {
        shadow_read_row_slow(w, op, first, bytes);
        return;
    }
    const uint32_t word = first / 4, shift = bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
    const int vectors = (int)(bytes / 4) * V32_COUNT;
    const uint32_t *wk = h->write_key + word;
    uint32_t *rk = h->read_key + word;
    const vu32 floor = v32_set(h->clock.floor), mine = v32_set(h->clock.mine);
    const vu32 several = v32_set(h->clock.many | WHO_SEVERAL), many = v32_set(h->clock.many);
    for (int j = 0; j < vectors; j++) {
        vu32 key = mine + ((v32_iota() + v32_set((uint32_t)(j * V32_LANES))) >> shift);
        vu32 k = v32_load(wk + j * V32_LANES), r = v32_load(rk + j * V32_LANES);
        vs32 ok = (vs32)(k < floor) | (vs32)(k == key);
        if (v32_bits(ok) != V32_ALL) {
            ok |= hazard_own(k, mine, v32_set(h->clock.own_floor));
            if (v32_bits(ok) != V32_ALL) {
                shadow_read_row_slow(w, op, first, bytes);
                return;
            }
        }
        vs32 alone = (vs32)(r < floor) | (vs32)(r == key);
        if (v32_bits(alone) != V32_ALL) {
            vu32 own_floor = v32_set(h->clock.own_floor);
            vs32 same_warp = (((r ^ mine) & v32_set(0x3e0)) == v32_set(0)) &
                             ((r & v32_set(0x401)) != v32_set(0x401));
            alone |= same_warp & (vs32)(r < own_floor);
            if (h->precise && v32_bits(alone) != V32_ALL) {
                shadow_read_row_slow(w, op, first, bytes);
                return;
            }
            key = v32_pick((vu32)alone, key, v32_pick((vu32)same_warp, many, several));
        }
        v32_store(rk + j * V32_LANES, key);
    }
    uint16_t *rs = h->read_site + word;
    const uint16_t site = shadow_site(op);
    for (uint32_t i = 0; i < 8 * bytes; i++)
        rs[i] = site;
}

static inline void hazard_shared_write_row(struct warp *w, const struct op *op, uint32_t first,
                                           uint32_t bytes)
{
    if (w->counting)
        counters_shared_row(w, op, bytes);
    if (!w->checks)
        return;
    struct hazard_warp *h = w->hazard;
    hazard_note(h, op);
    if (h->precise && (op->sem != SEM_WEAK || w->block->hazard->sources_in_shared)) {
        shadow_write_row_slow(w, op, first, bytes);
        return;
    }
    const uint32_t word = first / 4, shift = bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
    const int vectors = (int)(bytes / 4) * V32_COUNT;
    uint32_t *wk = h->write_key + word;
    const uint32_t *rk = h->read_key + word;
    const vu32 floor = v32_set(h->clock.floor), mine = v32_set(h->clock.mine);
    for (int j = 0; j < vectors; j++) {
        vu32 key = mine + ((v32_iota() + v32_set((uint32_t)(j * V32_LANES))) >> shift);
        vu32 k = v32_load(wk + j * V32_LANES), r = v32_load(rk + j * V32_LANES);
        vs32 ok = ((vs32)(k < floor) | (vs32)(k == key) | (vs32)(k == v32_set(KEY_UNSET))) &
                  ((vs32)(r < floor) | (vs32)(r == key));
        if (v32_bits(ok) != V32_ALL) {
            vu32 own_floor = v32_set(h->clock.own_floor);
            vs32 many = (((r ^ mine) & v32_set(0x3e0)) == v32_set(0)) &
                        ((r & v32_set(0x41f)) == v32_set(WHO_MANY)) & (vs32)(r < own_floor);
            ok = ((vs32)(k < floor) | (vs32)(k == key) | (vs32)(k == v32_set(KEY_UNSET)) |
                  hazard_own(k, mine, own_floor)) &
                 ((vs32)(r < floor) | (vs32)(r == key) | hazard_own(r, mine, own_floor) | many);
            if (v32_bits(ok) != V32_ALL) {
                shadow_write_row_slow(w, op, first, bytes);
                return;
            }
        }
    }
    for (int j = 0; j < vectors; j++)
        v32_store(wk + j * V32_LANES,
                  mine + ((v32_iota() + v32_set((uint32_t)(j * V32_LANES))) >> shift));
    uint16_t *ws = h->write_site + word;
    const uint16_t site = shadow_site(op);
    for (uint32_t i = 0; i < 8 * bytes; i++)
        ws[i] = site;
}

/* Four words at one address, read by the whole warp; false: look closer. */
static inline bool hazard_read_four(struct hazard_warp *h, uint32_t word, uint16_t site)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    four k, r;
    memcpy(&k, h->write_key + word, sizeof k);
    memcpy(&r, h->read_key + word, sizeof r);
    four unclean = (four)(k >= h->clock.floor);
    four several = (four)(r >= h->clock.floor) &
                   ((four)(((r ^ h->clock.mine) & 0x3e0) != 0) | (four)((r & 0x401) == 0x401));
    uint64_t any[2];
    unclean |= h->precise ? several : (four){0};
    memcpy(any, &unclean, sizeof any);
    if (any[0] | any[1])
        return false;
    r = h->clock.many | (several & WHO_SEVERAL);
    memcpy(h->read_key + word, &r, sizeof r);
    uint64_t sites = site * 0x0001000100010001u;
    memcpy(h->read_site + word, &sites, sizeof sites);
    return true;
}

static inline void hazard_shared_read_same(struct warp *w, const struct op *op, uint32_t mask,
                                           uint32_t addr, uint32_t bytes)
{
    if (w->counting)
        counters_shared_same(w, op, mask, bytes);
    if (!w->checks)
        return;
    struct hazard_warp *h = w->hazard;
    hazard_note(h, op);
    if (bytes < 4 || !(mask & (mask - 1)) ||
        (h->precise && (mask != FULL_MASK || op->sem != SEM_WEAK))) {
        shadow_read_same_slow(w, op, mask, addr, bytes);
        return;
    }
    if (bytes == 16 && hazard_read_four(h, addr / 4, shadow_site(op)))
        return;
    const uint16_t site = shadow_site(op);
    for (uint32_t word = addr / 4; word < (addr + bytes) / 4; word++) {
        uint32_t k = h->write_key[word], r = h->read_key[word];
        bool own = ((k ^ h->clock.mine) & 0x7e0) == 0 && k < h->clock.own_floor;
        bool same_warp = ((r ^ h->clock.mine) & 0x3e0) == 0 && (r & 0x401) != 0x401;
        if ((k >= h->clock.floor && !own) ||
            (h->precise && r >= h->clock.floor && !(same_warp && r < KEY_SPECIAL))) {
            shadow_read_same_slow(w, op, mask, addr, bytes);
            return;
        }
        h->read_key[word] =
            r < h->clock.floor || same_warp ? h->clock.many : h->clock.many | WHO_SEVERAL;
        h->read_site[word] = site;
    }
}

/* 4-byte reads of 16 lanes from `lane` on: of a row of words, or all of one. False: look closer. */
static inline bool hazard_read_half(struct hazard_warp *h, uint32_t lane, uint32_t first,
                                    bool in_row, uint16_t site)
{
    const vu32 floor = v32_set(h->clock.floor), mine = v32_set(h->clock.mine);
    const vu32 several = v32_set(h->clock.many | WHO_SEVERAL), many = v32_set(h->clock.many);
    const vu32 own_floor = v32_set(h->clock.own_floor);
    const uint32_t word = first / 4;
    if (!in_row) {
        uint32_t k = h->write_key[word], r = h->read_key[word];
        bool own = ((k ^ h->clock.mine) & 0x7e0) == 0 && k < h->clock.own_floor;
        bool same_warp = ((r ^ h->clock.mine) & 0x3e0) == 0 && (r & 0x401) != 0x401;
        h->read_key[word] =
            r < h->clock.floor || same_warp ? h->clock.many : h->clock.many | WHO_SEVERAL;
        h->read_site[word] = site;
        return k < h->clock.floor || own;
    }
    for (int j = 0; j < 16 / V32_LANES; j++) {
        uint32_t *rk = h->read_key + word + j * V32_LANES;
        vu32 key = mine + v32_iota() + v32_set(lane + (uint32_t)(j * V32_LANES));
        vu32 k = v32_load(h->write_key + word + j * V32_LANES), r = v32_load(rk);
        vs32 ok = (vs32)(k < floor) | (vs32)(k == key) | hazard_own(k, mine, own_floor);
        if (v32_bits(ok) != V32_ALL)
            return false;
        vs32 same_warp = (((r ^ mine) & v32_set(0x3e0)) == v32_set(0)) &
                         ((r & v32_set(0x401)) != v32_set(0x401));
        vs32 alone = (vs32)(r < floor) | (vs32)(r == key) | (same_warp & (vs32)(r < own_floor));
        v32_store(rk, v32_pick((vu32)alone, key, v32_pick((vu32)same_warp, many, several)));
    }
    for (int i = 0; i < 16; i++)
        h->read_site[word + (uint32_t)i] = site;
    return true;
}

/* Both halves of the warp, each in a row or all at one address, as 16-wide tiles are read. */
static inline void hazard_shared_read_halves(struct warp *w, const struct op *op,
                                             const uint32_t addr[32])
{
    bool low = addr[1] != addr[0], high = addr[17] != addr[16];
    if (w->counting)
        counters_shared_halves(w, op, addr[0], low ? 16 : 1, addr[16], high ? 16 : 1);
    if (!w->checks)
        return;
    struct hazard_warp *h = w->hazard;
    hazard_note(h, op);
    if (h->precise || hazard_is_strong(op) ||
        !hazard_read_half(h, 0, addr[0], low, shadow_site(op)) ||
        !hazard_read_half(h, 16, addr[16], high, shadow_site(op)))
        shadow_read_lanes(w, op, FULL_MASK, addr, 4);
}

/* Reads anywhere, of words that several threads have read in this epoch already and nobody has
 * written: nothing to note and nothing to report. False: look closer. */
static inline bool hazard_read_again(const struct hazard_warp *h, const uint32_t addr[32],
                                     uint32_t bytes)
{
    const vu32 floor = v32_set(h->clock.floor), many = v32_set(h->clock.many);
    for (uint32_t v = 0; v < bytes / 4; v++)
        for (int j = 0; j < V32_COUNT; j++) {
            vu32 at = v32_load(addr + j * V32_LANES);
            vu32 k = v32_gather(h->write_key + v, at), r = v32_gather(h->read_key + v, at);
            vs32 ok = (vs32)(k < floor) &
                      ((vs32)(r == many) |
                       ((vs32)(r >= floor) & ((r & v32_set(0x41f)) == v32_set(WHO_SEVERAL))));
            if (v32_bits(ok) != V32_ALL)
                return false;
        }
    return true;
}

/* One word of each lane, at addr[lane] + 4 * v: checked, and the readers noted. Lanes that read the
 * same word put their keys over one another; what comes back tells, and such a word gets `many`. */
static inline bool hazard_read_column(struct hazard_warp *h, const uint32_t addr[32], uint32_t v)
{
    const vu32 floor = v32_set(h->clock.floor), mine = v32_set(h->clock.mine);
    const vu32 several = v32_set(h->clock.many | WHO_SEVERAL), many = v32_set(h->clock.many);
    const vu32 own_floor = v32_set(h->clock.own_floor);
    uint32_t *rk = h->read_key + v;
    vu32 keys[V32_COUNT];
    for (int j = 0; j < V32_COUNT; j++) {
        vu32 at = v32_load(addr + j * V32_LANES);
        vu32 key = mine + v32_iota() + v32_set((uint32_t)(j * V32_LANES));
        vu32 k = v32_gather(h->write_key + v, at), r = v32_gather(rk, at);
        vs32 ok = (vs32)(k < floor) | (vs32)(k == key) | hazard_own(k, mine, own_floor);
        if (v32_bits(ok) != V32_ALL)
            return false;
        vs32 same_warp = (((r ^ mine) & v32_set(0x3e0)) == v32_set(0)) &
                         ((r & v32_set(0x401)) != v32_set(0x401));
        vs32 alone = (vs32)(r < floor) | (vs32)(r == key) | (same_warp & (vs32)(r < own_floor));
        keys[j] = v32_pick((vu32)alone, key, v32_pick((vu32)same_warp, many, several));
    }
    for (int j = 0; j < V32_COUNT; j++)
        v32_scatter(rk, v32_load(addr + j * V32_LANES), keys[j], V32_ALL);
    for (int j = 0; j < V32_COUNT; j++) {
        vu32 at = v32_load(addr + j * V32_LANES);
        uint32_t lost = v32_bits((vs32)(v32_gather(rk, at) != keys[j]));
        if (lost)
            v32_scatter(rk, at, many, lost);
    }
    return true;
}

/* Whole words anywhere; false: look closer. */
static inline bool hazard_read_anywhere(struct hazard_warp *h, const uint32_t addr[32],
                                        uint32_t bytes, uint16_t site)
{
    for (uint32_t v = 0; v < bytes / 4; v++) {
        if (!hazard_read_column(h, addr, v))
            return false;
        for (int i = 0; i < 32; i++)
            h->read_site[addr[i] / 4 + v] = site;
    }
    return true;
}

/* Words of their own for all lanes, anywhere, that nobody else touched; false: look closer. Lanes
 * that write the same word are found as in hazard_read_column, and what was there put back. */
static inline bool hazard_write_anywhere(struct hazard_warp *h, const uint32_t addr[32],
                                         uint16_t site)
{
    const vu32 floor = v32_set(h->clock.floor), mine = v32_set(h->clock.mine);
    const vu32 own_floor = v32_set(h->clock.own_floor);
    vu32 keys[V32_COUNT], old[V32_COUNT];
    uint32_t lost = 0;
    for (int j = 0; j < V32_COUNT; j++) {
        vu32 at = v32_load(addr + j * V32_LANES), r = v32_gather(h->read_key, at);
        keys[j] = mine + v32_iota() + v32_set((uint32_t)(j * V32_LANES));
        old[j] = v32_gather(h->write_key, at);
        vs32 many = (((r ^ mine) & v32_set(0x3e0)) == v32_set(0)) &
                    ((r & v32_set(0x41f)) == v32_set(WHO_MANY)) & (vs32)(r < own_floor);
        vs32 ok =
            ((vs32)(old[j] < floor) | (vs32)(old[j] == keys[j]) |
             (vs32)(old[j] == v32_set(KEY_UNSET)) | hazard_own(old[j], mine, own_floor)) &
            ((vs32)(r < floor) | (vs32)(r == keys[j]) | hazard_own(r, mine, own_floor) | many);
        if (v32_bits(ok) != V32_ALL)
            return false;
    }
    for (int j = 0; j < V32_COUNT; j++)
        v32_scatter(h->write_key, v32_load(addr + j * V32_LANES), keys[j], V32_ALL);
    for (int j = 0; j < V32_COUNT; j++)
        lost |=
            v32_bits((vs32)(v32_gather(h->write_key, v32_load(addr + j * V32_LANES)) != keys[j]));
    for (int j = 0; lost && j < V32_COUNT; j++)
        v32_scatter(h->write_key, v32_load(addr + j * V32_LANES), old[j], V32_ALL);
    for (int i = 0; !lost && i < 32; i++)
        h->write_site[addr[i] / 4] = site;
    return !lost;
}

static inline void hazard_shared_read(struct warp *w, const struct op *op, uint32_t mask,
                                      const uint32_t addr[32], uint32_t bytes)
{
    if (w->counting)
        counters_shared(w, op, mask, addr, bytes);
    if (!w->checks)
        return;
    hazard_note(w->hazard, op);
    if (bytes >= 4 && mask == FULL_MASK && !w->hazard->precise && !hazard_is_strong(op) &&
        (hazard_read_again(w->hazard, addr, bytes) ||
         hazard_read_anywhere(w->hazard, addr, bytes, shadow_site(op))))
        return;
    shadow_read_lanes(w, op, mask, addr, bytes);
}

static inline void hazard_shared_write(struct warp *w, const struct op *op, uint32_t mask,
                                       const uint32_t addr[32], uint32_t bytes)
{
    if (w->counting)
        counters_shared(w, op, mask, addr, bytes);
    if (!w->checks)
        return;
    hazard_note(w->hazard, op);
    if (bytes == 4 && mask == FULL_MASK && !w->hazard->precise && !hazard_is_strong(op) &&
        !w->block->hazard->sources_in_shared &&
        hazard_write_anywhere(w->hazard, addr, shadow_site(op)))
        return;
    shadow_write_lanes(w, op, mask, addr, bytes);
}

static inline void hazard_shared_atomic(struct warp *w, const struct op *op, uint32_t mask,
                                        const uint32_t addr[32], uint32_t bytes)
{
    if (w->counting)
        counters_shared(w, op, mask, addr, bytes);
    if (!w->checks)
        return;
    hazard_note(w->hazard, op);
    shadow_atomic_lanes(w, op, mask, addr, bytes);
}

#endif
