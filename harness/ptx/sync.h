/* Barriers of a block and mbarrier objects: who has arrived, who still has to, what they order.
 *
 * A sync_block belongs to the worker and is started again for every block. Waiting paths stay the
 * scheduler's: SYNC_WAIT asks it to park, path_wake lets it go on.
 *
 * It works with and without checks; only with checks does it keep clocks and report. It never
 * decides that a program has ended. */
#ifndef STRIDE_PTX_SYNC_H
#define STRIDE_PTX_SYNC_H

#include "harness/ptx/exec.h"

enum sync_result { SYNC_PASS, SYNC_WAIT };

enum barrier_kind {
    BARRIER_SYNC,
    BARRIER_ARRIVE,
    BARRIER_POPC, /* bar.red */
    BARRIER_AND,
    BARRIER_OR,
    BARRIER_UNALIGNED = 8, /* | : barrier.* without .aligned, which lanes may reach one by one */
};

enum mbarrier_arrive {
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_DROP,           /* and expect one arrival less from the next phase on */
    MBARRIER_ARRIVE_NOCOMPLETE = 2, /* | : must not complete the phase */
    MBARRIER_ARRIVE_RELAXED = 4,    /* | : orders nothing */
};

/* A barrier instruction of the lanes in w->mask. count is in threads, 0: all of the block.
 * predicate: a bit per lane, for bar.red. SYNC_PASS: go on; the result of bar.red is in
 * w->paths[w->current].value. SYNC_WAIT: park the current path; it is woken when the barrier is
 * complete. */
enum sync_result sync_barrier(struct warp *w, const struct op *op, unsigned kind, uint32_t id,
                              uint32_t count, uint32_t predicate);

/* Lanes exit: barriers that waited for them may complete. Call it before w->live loses them. */
void sync_exit(struct warp *w, uint32_t mask);

/* No path of the block can go on. Reports why. True: some path was woken to go on with; false: the
 * block has been stopped with PTX_DEADLOCK. */
bool sync_stuck(struct block *block);

/* mbarrier objects. addr: per lane, offset of the 8 bytes in shared memory. count NULL: 1. */
void sync_mbarrier_init(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                        const uint32_t count[32]);
void sync_mbarrier_inval(struct warp *w, const struct op *op, uint32_t mask,
                         const uint32_t addr[32]);

/* Arrives `count` times after adding tx to the bytes that are expected. state[]: what
 * mbarrier.arrive returns; tx, state may be NULL. */
void sync_mbarrier_arrive(struct warp *w, const struct op *op, uint32_t mask,
                          const uint32_t addr[32], const uint32_t count[32], const uint32_t tx[32],
                          uint64_t state[32], unsigned arrive);
void sync_mbarrier_expect_tx(struct warp *w, const struct op *op, uint32_t mask,
                             const uint32_t addr[32], const uint32_t tx[32]);
void sync_mbarrier_complete_tx(struct warp *w, const struct op *op, uint32_t mask,
                               const uint32_t addr[32], const uint32_t tx[32]);

/* The lanes whose phase (by state, or by parity) is over. They are ordered behind its arrivals. */
uint32_t sync_mbarrier_test(struct warp *w, const struct op *op, uint32_t mask,
                            const uint32_t addr[32], const uint64_t state[32]);
uint32_t sync_mbarrier_test_parity(struct warp *w, const struct op *op, uint32_t mask,
                                   const uint32_t addr[32], const uint32_t parity[32]);
void sync_mbarrier_pending_count(struct warp *w, const struct op *op, uint32_t mask,
                                 const uint64_t state[32], uint32_t count[32]);

/* For async.c: an arrival more to wait for; where a landing is published (NULL without checks or
 * object); and a landing: arrivals and bytes. */
void sync_mbarrier_add_pending(struct warp *w, uint32_t addr, uint32_t count);
uint32_t *sync_mbarrier_vector(struct warp *w, uint32_t addr);
void sync_mbarrier_land(struct warp *w, const struct op *op, unsigned lane, uint32_t addr,
                        uint32_t arrivals, uint32_t bytes);

/* For the rest of harness/ptx. */
struct sync_block *sync_open(void);
void sync_close(struct sync_block *sync);
void sync_begin(struct sync_block *sync, struct block *block);

#endif
