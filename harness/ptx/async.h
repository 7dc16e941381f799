/* Asynchronous copies, executed as late as the program allows: bytes land when they are waited for,
 * and until then the destination is in flight.
 *
 * A struct async_warp belongs to the worker and holds the copies of one warp, with a group number
 * per lane, so that commits under a partial mask count per thread as they do on the GPU. Bulk
 * copies of a block hang on its mbarriers or on the issuing thread's bulk groups.
 *
 * It moves bytes with and without checks. It never waits: waiting is sync.h's and the scheduler's.
 */
#ifndef STRIDE_PTX_ASYNC_H
#define STRIDE_PTX_ASYNC_H

#include "harness/ptx/exec.h"

/* The shadow's rows for copies, in each instruction set's own vectors (exec_rows.c). */
struct async_rows {
    bool (*issue)(struct warp *w, const struct op *op, uint32_t first, uint32_t size);
    void (*land)(struct warp *w, uint32_t first, uint32_t size);
};
extern const struct async_rows async_rows_base, async_rows_avx2, async_rows_avx512;

/* All functions that return bool check addresses themselves and return false after stop_block. */

/* cp.async: size 4, 8 or 16 bytes to shared offset dst from address src; of these src_bytes come
 * from memory and the rest is zero (src_bytes NULL: all of them). */
bool async_copy_by(const struct async_rows *rows, struct warp *w, const struct op *op,
                   uint32_t mask, const uint32_t dst[32], const uint64_t src[32], uint32_t size,
                   const uint32_t src_bytes[32]);
void async_commit(struct warp *w, const struct op *op, uint32_t mask);

/* wait_group `keep`; UINT32_MAX is wait_all. */
void async_wait_by(const struct async_rows *rows, struct warp *w, const struct op *op,
                   uint32_t mask, uint32_t keep);

#ifdef ISA
static inline bool async_copy(struct warp *w, const struct op *op, uint32_t mask,
                              const uint32_t dst[32], const uint64_t src[32], uint32_t size,
                              const uint32_t src_bytes[32])
{
    return async_copy_by(&ISA(async_rows), w, op, mask, dst, src, size, src_bytes);
}

static inline void async_wait(struct warp *w, const struct op *op, uint32_t mask, uint32_t keep)
{
    async_wait_by(&ISA(async_rows), w, op, mask, keep);
}
#endif

/* cp.async.mbarrier.arrive: an arrival when all copies so far of each lane have landed. */
bool async_mbarrier_arrive(struct warp *w, const struct op *op, uint32_t mask,
                           const uint32_t addr[32], bool noinc);

/* cp.async.bulk global to shared, reporting to an mbarrier; and shared to global, in bulk groups.
 */
bool async_bulk_load(struct warp *w, const struct op *op, uint32_t mask, const uint32_t dst[32],
                     const uint64_t src[32], const uint32_t bytes[32], const uint32_t mbarrier[32]);
bool async_bulk_store(struct warp *w, const struct op *op, uint32_t mask, const uint64_t dst[32],
                      const uint32_t src[32], const uint32_t bytes[32]);
void async_bulk_commit(struct warp *w, const struct op *op, uint32_t mask);

/* read: only until the sources have been read. */
void async_bulk_wait(struct warp *w, const struct op *op, uint32_t mask, uint32_t keep, bool read);

/* For the rest of harness/ptx. */

/* A store to `bytes` of global memory at `host` is about to happen: it must not be the source of a
 * copy in flight. */
void async_source_written(struct warp *w, const struct op *op, unsigned lane, const uint8_t *host,
                          uint64_t va, uint64_t bytes);

/* The same for a store to shared memory, which bulk stores read. */
void async_shared_written(struct warp *w, const struct op *op, unsigned lane, uint32_t addr,
                          uint32_t bytes);

/* Epoch of the copy in flight that `thread` issued into addr; 0 when there is none. */
uint32_t async_issue_epoch(const struct block *block, uint32_t thread, uint32_t addr);

/* Lands what an mbarrier's phase waits for, now that somebody waits for that phase. True when
 * something landed. */
bool async_land_for(struct warp *w, uint32_t mbarrier);

struct async_warp *async_open(uint32_t warps); /* an array, one per warp */
void async_close(struct async_warp *warps, uint32_t count);
struct async_warp *async_of(struct async_warp *warps, uint32_t index);
void async_begin(struct async_warp *async);
void async_end(struct warp *w); /* copies that nobody waited for */

#endif
