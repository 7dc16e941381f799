/* Basic blocks of a function and where their lanes meet again: immediate post-dominators.
 *
 * Works on caller's arrays; what it returns is freed by the caller.
 *
 * Edges to blocks that only return or exit don't count where a block has another way to go: lanes
 * that leave the kernel early do not keep the others from meeting. They do count in a loop that is
 * left in no other way. */
#ifndef STRIDE_PTX_CFG_H
#define STRIDE_PTX_CFG_H

#include <stdbool.h>
#include <stdint.h>

#define CFG_EXIT UINT32_MAX

struct cfg_block {
    uint32_t first, count;      /* drafts */
    const uint32_t *successors; /* block numbers, CFG_EXIT for the end */
    uint32_t successor_count;
    bool is_exit_only; /* nothing but a return or exit */
};

/* Immediate post-dominator of every block, CFG_EXIT where there is none but the exit. free() it. */
uint32_t *cfg_post_dominators(const struct cfg_block *blocks, uint32_t count);

#endif
