/* Rows of the shadow for asynchronous copies: 32 lanes whose destinations stand one behind the
 * other, as in any well-made tile loader. */
#include "harness/ptx/async.h"
#include "harness/ptx/hazard_shared.h"
#include "harness/ptx/vec.h"

static inline vu32 lane_of(int vector, uint32_t shift)
{
    return (v32_iota() + v32_set((uint32_t)(vector * V32_LANES))) >> shift;
}

static inline uint32_t shift_of(uint32_t size)
{
    return size == 4 ? 0 : size == 8 ? 1 : 2;
}

/* Marks the words in flight; false when some access has to be looked at first. */
static bool issue(struct warp *w, const struct op *op, uint32_t first, uint32_t size)
{
    const struct hazard_warp *h = w->hazard;
    const uint32_t shift = shift_of(size), word = first / 4;
    const int vectors = (int)(size / 4) * V32_COUNT;
    const vu32 floor = v32_set(h->clock.floor), mine = v32_set(h->clock.mine);
    vs32 clean = ~(vs32){0};
    for (int j = 0; j < vectors; j++) {
        vu32 k = v32_load(h->write_key + word + j * V32_LANES), key = mine + lane_of(j, shift);
        vu32 r = v32_load(h->read_key + word + j * V32_LANES);
        clean &= ((vs32)(k < floor) | (vs32)(k == key) | (vs32)(k == v32_set(KEY_UNSET))) &
                 ((vs32)(r < floor) | (vs32)(r == key));
    }
    if (v32_bits(clean) != V32_ALL)
        return false;
    const vu32 pending = v32_set(KEY_PENDING | w->id * 32);
    for (int j = 0; j < vectors; j++)
        v32_store(h->write_key + word + j * V32_LANES, pending + lane_of(j, shift));
    const uint16_t site = shadow_site(op);
    for (uint32_t i = 0; i < 8 * size; i++)
        h->write_site[word + i] = site;
    return true;
}

/* The words that are still marked become written by their lanes. */
static void land(struct warp *w, uint32_t first, uint32_t size)
{
    const struct hazard_warp *h = w->hazard;
    const uint32_t shift = shift_of(size);
    const int vectors = (int)(size / 4) * V32_COUNT;
    const vu32 pending = v32_set(KEY_PENDING | w->id * 32), mine = v32_set(h->clock.mine);
    for (int j = 0; j < vectors; j++) {
        uint32_t *at = h->write_key + first / 4 + j * V32_LANES;
        vu32 k = v32_load(at), lane = lane_of(j, shift);
        v32_store(at, v32_pick((vu32)(k == pending + lane), mine + lane, k));
    }
}

const struct async_rows ISA(async_rows) = {issue, land};
