/* Activations: a register window, .param space and a depot in local memory for each call that runs.
 * Windows are kept per function and reused, so constants are written into them only once. */
#include "harness/ptx/control.h"

#include "harness/base/buf.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/module.h"

#include <stdlib.h>
#include <string.h>

enum {
    FRAME_MAX_DEPTH = 4096,
};

static void fill32(struct frame *frame, uint32_t offset, uint32_t value)
{
    uint32_t *lanes = (uint32_t *)(void *)(frame->regs + offset);
    for (unsigned i = 0; i < WARP_LANES; i++)
        lanes[i] = value;
}

static void fill64(struct frame *frame, uint32_t offset, uint64_t value)
{
    uint64_t *lanes = (uint64_t *)(void *)(frame->regs + offset);
    for (unsigned i = 0; i < WARP_LANES; i++)
        lanes[i] = value;
}

/* Values of %tid and friends for one lane. */
static uint64_t special_value(const struct warp *w, unsigned special, unsigned lane)
{
    const struct ptx_launch *launch = w->worker->run->launch;
    const struct block *block = w->block;
    uint32_t t = warp_thread(w, lane), x = launch->block[0], y = launch->block[1];
    switch (special) {
    case SPECIAL_TID_X:
        return t % x;
    case SPECIAL_TID_Y:
        return t / x % y;
    case SPECIAL_TID_Z:
        return t / x / y;
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z:
        return launch->block[special - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z:
        return block->ctaid[special - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z:
        return launch->grid[special - SPECIAL_NCTAID_X];
    case SPECIAL_LANEID:
        return lane;
    case SPECIAL_WARPID:
        return w->id;
    case SPECIAL_NWARPID:
        return block->warp_count;
    case SPECIAL_NSMID:
        return 1;
    case SPECIAL_LANEMASK_EQ:
        return 1u << lane;
    case SPECIAL_LANEMASK_LE:
        return (2u << lane) - 1;
    case SPECIAL_LANEMASK_LT:
        return (1u << lane) - 1;
    case SPECIAL_LANEMASK_GE:
        return ~((1u << lane) - 1);
    case SPECIAL_LANEMASK_GT:
        return ~((2u << lane) - 1);
    case SPECIAL_TOTAL_SMEM_SIZE:
        return block->shared_bytes;
    case SPECIAL_DYNAMIC_SMEM_SIZE:
        return launch->dynamic_shared_bytes;
    case SPECIAL_CLUSTERID_X: /* every block is a cluster of its own */
    case SPECIAL_CLUSTERID_Y:
    case SPECIAL_CLUSTERID_Z:
        return block->ctaid[special - SPECIAL_CLUSTERID_X];
    case SPECIAL_NCLUSTERID_X:
    case SPECIAL_NCLUSTERID_Y:
    case SPECIAL_NCLUSTERID_Z:
        return launch->grid[special - SPECIAL_NCLUSTERID_X];
    case SPECIAL_CLUSTER_NCTAID_X:
    case SPECIAL_CLUSTER_NCTAID_Y:
    case SPECIAL_CLUSTER_NCTAID_Z:
    case SPECIAL_CLUSTER_NCTARANK:
        return 1;
    default:
        return 0;
    }
}

static void fill_specials(const struct warp *w, struct frame *frame)
{
    static const uint8_t bytes[] = {
#define X(symbol, name, size, fixed) size,
#include "harness/ptx/special.def"
#undef X
    };
    for (unsigned s = 0; s < SPECIAL_COUNT; s++) {
        uint32_t offset = frame->func->special[s];
        if (!offset)
            continue;
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            uint64_t value = special_value(w, s, lane);
            if (bytes[s] == 8)
                ((uint64_t *)(void *)(frame->regs + offset))[lane] = value;
            else
                ((uint32_t *)(void *)(frame->regs + offset))[lane] = (uint32_t)value;
        }
    }
}

static void fill_addresses(const struct warp *w, struct frame *frame)
{
    const struct func *func = frame->func;
    for (uint32_t i = 0; i < func->address_count; i++) {
        const struct address_slot *slot = &func->addresses[i];
        uint64_t base = slot->is_local ? frame->local_base : w->worker->run->dynamic_base;
        if (slot->wide)
            fill64(frame, slot->offset, base + slot->addend);
        else
            fill32(frame, slot->offset, (uint32_t)(base + slot->addend));
    }
}

static struct frame *new_frame(const struct func *func)
{
    struct frame *frame = mem_zero(1, sizeof *frame);
    frame->func = func;
    frame->regs = aligned_alloc(64, func->register_bytes);
    frame->params = aligned_alloc(64, (size_t)(func->param_bytes / 4 + 1) * 128);
    if (!frame->regs || !frame->params)
        abort();
    memset(frame->regs, 0, func->register_bytes);
    memset(frame->params, 0, (size_t)(func->param_bytes / 4 + 1) * 128);
    if (func->template_regs)
        memcpy(frame->regs + func->template_from, func->template_regs,
               func->template_to - func->template_from);
    return frame;
}

static void grow_local(struct warp *w, uint32_t bytes)
{
    if (bytes <= w->local_bytes)
        return;
    if (bytes < 2 * w->local_bytes) /* twice as much: recursion grows it frame by frame */
        bytes = 2 * w->local_bytes;
    bytes = (bytes + 255) & ~255u;
    uint8_t *grown = aligned_alloc(64, (size_t)bytes * WARP_LANES);
    if (!grown)
        abort();
    size_t old = (size_t)w->local_bytes * WARP_LANES;
    if (old)
        memcpy(grown, w->local, old);
    memset(grown + old, 0, (size_t)bytes * WARP_LANES - old);
    free(w->local);
    w->local = grown;
    w->local_bytes = bytes;
}

struct frame *frame_open(struct warp *w, const struct func *func, struct frame *caller)
{
    uint32_t base = caller ? caller->local_base + caller->func->local_bytes : 0;
    uint32_t depth = caller ? caller->depth + 1 : 0;
    if (depth > FRAME_MAX_DEPTH || func->local_bytes > FRAME_MAX_LOCAL ||
        base + func->local_bytes > FRAME_MAX_LOCAL)
        return NULL;
    struct frame *frame = w->worker->frame_pool[func->index];
    if (frame)
        w->worker->frame_pool[func->index] = frame->next_free;
    else
        frame = new_frame(func);
    frame->caller = caller;
    frame->depth = depth;
    frame->local_base = base;
    fill_specials(w, frame);
    fill_addresses(w, frame);
    if (func->local_bytes) {
        grow_local(w, base + func->local_bytes);
        hazard_local_fresh(w, caller ? w->active : w->live, base, func->local_bytes);
    }
    return frame;
}

void frame_close(struct warp *w, struct frame *frame)
{
    struct frame **pool = &w->worker->frame_pool[frame->func->index];
    frame->next_free = *pool;
    *pool = frame;
}
