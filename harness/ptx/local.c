#include "harness/ptx/hazard.h"

#include "harness/base/buf.h"
#include "harness/ptx/cell.h"

#include <string.h>

/* Local memory: which bytes a lane has written since its function was entered. */

/* A nibble per word and lane, a byte wide, so that a warp's row of one word is 32 bytes. */
static uint8_t *local_set(struct warp *w)
{
    struct hazard_warp *h = w->hazard;
    if (h->local_words * 4 < w->local_bytes) {
        uint32_t words = (w->local_bytes + 3) / 4;
        h->local_set = mem_grow(h->local_set, words, 32);
        memset(h->local_set + (size_t)h->local_words * 32, 0,
               (size_t)(words - h->local_words) * 32);
        h->local_words = words;
    }
    return h->local_set;
}

static uint8_t nibble(uint32_t addr, uint32_t bytes, uint32_t word)
{
    uint8_t bits = 0;
    for (uint32_t i = 0; i < 4; i++)
        if (word * 4 + i >= addr && word * 4 + i < addr + bytes)
            bits = (uint8_t)(bits | 1u << i);
    return bits;
}

void hazard_local_read_lanes(struct warp *w, const struct op *op, uint32_t mask,
                             const uint32_t addr[32], uint32_t bytes)
{
    uint8_t *set = local_set(w);
    hazard_note(w->hazard, op);
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        for (uint32_t word = addr[lane] / 4; word * 4 < addr[lane] + bytes; word++) {
            uint8_t need = nibble(addr[lane], bytes, word), *have = &set[word * 32 + lane];
            if ((*have & need) == need || read_is_idle(w, op, lane))
                continue;
            *have = 15; /* once is enough */
            hazard_add(w, &(struct hazard_finding){.kind = PTX_HAZARD_UNINITIALISED,
                                                   .reason = REASON_LOCAL,
                                                   .line = op->line,
                                                   .thread = w->id * 32 + lane,
                                                   .other = NOBODY,
                                                   .space = PTX_SPACE_LOCAL,
                                                   .address = addr[lane],
                                                   .bytes = bytes,
                                                   .element = op->width});
            break;
        }
    }
}

void hazard_local_write_lanes(struct warp *w, const struct op *op, uint32_t mask,
                              const uint32_t addr[32], uint32_t bytes)
{
    (void)op;
    uint8_t *set = local_set(w);
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        for (uint32_t word = addr[lane] / 4; word * 4 < addr[lane] + bytes; word++) {
            uint8_t *have = &set[word * 32 + lane];
            *have = (uint8_t)(*have | nibble(addr[lane], bytes, word));
        }
    }
}

void hazard_local_fresh(struct warp *w, uint32_t mask, uint32_t base, uint32_t bytes)
{
    if (!w->checks)
        return;
    uint8_t *set = local_set(w);
    for (uint32_t word = base / 4; word * 4 < base + bytes && word < w->hazard->local_words; word++)
        for (uint32_t left = mask; left; left &= left - 1)
            set[word * 32 + (uint32_t)__builtin_ctz(left)] = 0;
}
