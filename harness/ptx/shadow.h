/* The shadow of a block's shared memory: per word, who wrote it last and who read it since.
 *
 * Keys are clock.h's. A word whose bytes were written or read one by one has four keys of each kind
 * in the byte tables, so that neighbouring char and half stores never look like a conflict. In
 * precise mode (kernels with partial barriers, mbarriers or fences) a word with readers in several
 * warps has a list of them; otherwise WHO_SEVERAL is all that a block barrier needs to know. Arrays
 * are parallel, so that a warp's row of words is checked and stamped as vectors.
 *
 * A shadow owns its arrays and keeps them from block to block. It never holds data: values are
 * compared in shared memory and registers, before a store happens. */
#ifndef STRIDE_PTX_SHADOW_H
#define STRIDE_PTX_SHADOW_H

#include "harness/ptx/clock.h"
#include "harness/ptx/exec.h"

enum { NO_SITE = UINT16_MAX }; /* sites that do not fit 16 bits have no line in reports */

struct shadow_reader { /* lanes of one warp that read a word in one epoch */
    uint32_t next;     /* index + 1, 0: last */
    uint32_t epoch, lanes;
    uint16_t site;
    uint16_t warp;
};

struct shadow {
    uint32_t words, capacity; /* arrays are 128 entries longer than capacity */
    uint32_t *write_key, *read_key;
    uint16_t *write_site, *read_site;
    uint32_t *readers; /* head of the list; index + 1 */
    bool precise;
    bool has_bytes; /* the byte tables are there: 4 entries a word */
    uint32_t *byte_write_key, *byte_read_key;
    uint16_t *byte_write_site, *byte_read_site;
    uint32_t *byte_readers;
    struct shadow_reader *pool;
    uint32_t pool_count, pool_capacity, pool_free;
};

static inline uint16_t shadow_site(const struct op *op)
{
    return op->site < NO_SITE ? (uint16_t)op->site : NO_SITE;
}

/* Starts a block: nothing written, nothing read. */
void shadow_begin(struct shadow *shadow, uint32_t bytes, bool precise);
void shadow_free(struct shadow *shadow);

/* Epochs start again: every key becomes "long ago". */
void shadow_forget(struct shadow *shadow);

/* Lane by lane, any address and size; find and report what is wrong. */
void shadow_read_lanes(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                       uint32_t bytes);
void shadow_write_lanes(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                        uint32_t bytes);
void shadow_atomic_lanes(struct warp *w, const struct op *op, uint32_t mask,
                         const uint32_t addr[32], uint32_t bytes);

/* The same for 32 lanes in a row, and for all of mask at one address. */
void shadow_read_row_slow(struct warp *w, const struct op *op, uint32_t first, uint32_t bytes);
void shadow_write_row_slow(struct warp *w, const struct op *op, uint32_t first, uint32_t bytes);
void shadow_read_same_slow(struct warp *w, const struct op *op, uint32_t mask, uint32_t addr,
                           uint32_t bytes);

/* A copy into [addr, addr + bytes) is issued by `lane`: checks it against earlier accesses and
 * marks the words in flight. */
void shadow_issue(struct warp *w, const struct op *op, unsigned lane, uint32_t addr,
                  uint32_t bytes);

/* It lands: the words that are still marked as this thread's become written, by `key`. */
void shadow_land(struct shadow *shadow, uint32_t thread, uint32_t key, uint16_t site, uint32_t addr,
                 uint32_t bytes);

/* The copy engine reads shared memory (bulk stores), on behalf of lane. */
void shadow_engine_read(struct warp *w, const struct op *op, unsigned lane, uint32_t addr,
                        uint32_t bytes);

#endif
