#include "harness/ptx/observed.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *row_of(const struct warp *w, unsigned lane)
{
    const struct hazard_block *block = w->block->hazard;
    return block->observed + (size_t)(w->id * 32 + lane) * clock_stride(&block->clock);
}

void observed_add(struct warp *w, unsigned lane, const uint32_t *vector)
{
    struct hazard_block *block = w->block->hazard;
    const uint32_t stride = clock_stride(&block->clock), need = w->block->warp_count * 32 * stride;
    if (block->observed_capacity < need) {
        free(block->observed);
        block->observed = mem_zero(need, sizeof *block->observed);
        block->observed_capacity = need;
    }
    uint32_t *row = row_of(w, lane);
    if (!(w->hazard->observed >> lane & 1))
        memset(row, 0, stride * sizeof *row);
    w->hazard->observed |= 1u << lane;
    for (uint32_t i = 0; i < stride; i++)
        row[i] = row[i] > vector[i] ? row[i] : vector[i];
}

void observed_take(struct warp *w, uint32_t lanes)
{
    uint32_t left = lanes & w->hazard->observed;
    w->hazard->observed &= ~left;
    for (; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        clock_acquire(&w->block->hazard->clock, w->id, 1u << lane, w->live, row_of(w, lane));
    }
}

bool observed_covers(const struct warp *w, unsigned lane, uint32_t who, uint32_t epoch)
{
    if (!(w->hazard->observed >> lane & 1) || who >= w->block->warp_count * 32)
        return false;
    return epoch <= row_of(w, lane)[who];
}

/* ---- blocks */

void observed_add_blocks(struct warp *w, const uint32_t *vector)
{
    struct hazard_worker *hazard = w->worker->hazard;
    const uint64_t blocks = w->worker->run->block_count;
    if (!hazard->global_observed)
        hazard->global_observed = mem_zero(blocks, sizeof *hazard->global_observed);
    if (!hazard->global_observes)
        memset(hazard->global_observed, 0, blocks * sizeof *hazard->global_observed);
    hazard->global_observes = true;
    for (uint64_t i = 0; i < blocks; i++)
        if (vector[i] > hazard->global_observed[i])
            hazard->global_observed[i] = (uint16_t)vector[i];
}

void observed_take_blocks(struct warp *w)
{
    struct hazard_worker *hazard = w->worker->hazard;
    if (!hazard->global_observes)
        return;
    hazard->global_observes = false;
    for (uint64_t i = 0; i < w->worker->run->block_count; i++)
        if (hazard->global_observed[i] > hazard->global_known[i])
            hazard->global_known[i] = hazard->global_observed[i];
}

bool observed_covers_block(const struct warp *w, uint64_t block, uint16_t epoch)
{
    const struct hazard_worker *hazard = w->worker->hazard;
    return hazard->global_observes && epoch <= hazard->global_observed[block];
}

void observed_begin(struct block *block)
{
    block->worker->hazard->global_observes = false;
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->hazard->warps[i].observed = 0;
}
