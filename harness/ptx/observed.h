/* What a thread has seen of others through volatile and relaxed reads, before a fence of its own
 * makes it count.
 *
 * PTX orders two threads where one writes behind a release (a fence, or st.release) and the other
 * reads what was written with an acquire: ld.acquire, or a relaxed or volatile read with a fence
 * behind it. So what such a read finds is kept here until the fence; a barrier and __syncwarp() do
 * as well. Rows of threads belong to the block's hazard state, those of blocks to the worker.
 *
 * Nothing here reports anything. */
#ifndef STRIDE_PTX_OBSERVED_H
#define STRIDE_PTX_OBSERVED_H

#include "harness/ptx/hazard.h"

/* A relaxed read by this lane found what `vector` (clock_stride() long) says. */
void observed_add(struct warp *w, unsigned lane, const uint32_t *vector);

/* A fence or barrier of these lanes: they know now what they have seen. */
void observed_take(struct warp *w, uint32_t lanes);

/* Has this lane seen that epoch of a thread, and not taken it in? */
bool observed_covers(const struct warp *w, unsigned lane, uint32_t who, uint32_t epoch);

/* The same between blocks: vector has an epoch per block. */
void observed_add_blocks(struct warp *w, const uint32_t *vector);
void observed_take_blocks(struct warp *w);
bool observed_covers_block(const struct warp *w, uint64_t block, uint16_t epoch);

/* A new block: nothing is seen. */
void observed_begin(struct block *block);

#endif
