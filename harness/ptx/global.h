/* The shadow of global memory: bytes never written, and blocks or threads of one block that touch
 * the same word without anything to order them.
 *
 * Each allocation that the kernel may write (targets.h) has one, shared by all workers: per word
 * the block that wrote and the block that read it last, and within that block the threads, by the
 * same clock and rules as shared memory. What a block learnt of others through fences and flags is
 * kept per worker, at the granularity of blocks.
 *
 * Stores of less than a word are not followed. */
#ifndef STRIDE_PTX_GLOBAL_H
#define STRIDE_PTX_GLOBAL_H

#include "harness/ptx/exec.h"

void global_run_open(struct run *run);
void global_run_close(struct run *run);

/* What the shadow of one item of run->map knows, per 4-byte word. Words of which only some bytes
 * were written have a write_site and no writer. False when the item has no shadow. */
struct global_words {
    uint64_t count;
    const uint32_t *writer, *reader;
    const uint16_t *write_site;
};
bool global_words(struct global_words *out, const struct run *run, size_t item);
void global_worker_open(struct worker *worker);
void global_block_begin(struct block *block);

/* The block's clock starts again: what its threads did in global memory is long ago. */
void global_forget(struct block *block);

/* A fence of gpu or system scope. */
void global_fence(struct warp *w);

/* A read or write by one lane on behalf of a copy. */
void global_read_bytes(struct warp *w, const struct op *op, unsigned lane, uint64_t va,
                       uint64_t bytes);
/* The same for the lanes of a copy: size bytes each, or bytes[lane] when that is not NULL. */
void global_read_copies(struct warp *w, const struct op *op, uint32_t mask, const uint64_t src[32],
                        uint32_t size, const uint32_t bytes[32]);
void global_write_bytes(struct warp *w, const struct op *op, unsigned lane, uint64_t va,
                        uint64_t bytes);

#endif
