/* mbarrier objects of a block: their counts, phases and what each phase published.
 *
 * The objects belong to the sync_block; sync.h declares what the handlers call. Their 64 bits in
 * shared memory are opaque and hold nothing.
 *
 * An mbarrier never waits: a test answers, and the kernel's own loop asks again. */
#ifndef STRIDE_PTX_MBARRIER_H
#define STRIDE_PTX_MBARRIER_H

#include "harness/ptx/exec.h"

struct mbarriers;

struct mbarriers *mbarriers_open(void);
void mbarriers_close(struct mbarriers *all);
void mbarriers_begin(struct mbarriers *all, struct block *block);

/* Nobody in the block does anything but ask: stops it and says what the last one to ask waits for.
 * False when nobody asked. */
bool mbarriers_stuck(struct mbarriers *all);

/* The ones of a block. */
struct mbarriers *sync_mbarriers(struct sync_block *sync);

#endif
