/* The shadow of one allocation, and one lane's access to it: shared by global.c (blocks against
 * blocks), global_cells.c (threads of one block) and global_lanes.c (from a warp's addresses to
 * both).
 *
 * A struct hazard_memory belongs to the run and is used by all workers without locks: a lost update
 * can lose a report of one word, or lead to one that the run with one worker, which follows every
 * report, does not repeat. A struct touch lives on the stack.
 *
 * Nothing here looks at what memory holds. */
#ifndef STRIDE_PTX_GLOBAL_MEMORY_H
#define STRIDE_PTX_GLOBAL_MEMORY_H

#include "harness/ptx/cell.h"
#include "harness/ptx/global.h"

enum { SEVERAL = UINT32_MAX }; /* blocks */

struct hazard_memory {
    uint64_t words;
    uint32_t *writer, *reader; /* block + 1, 0: nobody */
    uint16_t *write_site, *read_site;
    uint16_t *write_epoch, *read_epoch; /* precise runs */
    bool any_write;                     /* writer[] holds something: set once, never cleared */
    /* Of the block that writer[] or reader[] names: who of its threads, as clock.h's keys. */
    uint32_t *write_key, *read_key, *readers;     /* readers: precise runs */
    uint16_t *inner_write_site, *inner_read_site; /* NULL with the keys: blocks of one thread */
    uint16_t *constant_site; /* first read through the read-only path, + 1; NULL: there is none */
};

struct touch {
    struct warp *w;
    const struct op *op;
    struct hazard_memory *m;
    uint32_t item;
    uint32_t me; /* block + 1 */
    unsigned lane;
    bool strong, precise, reported;
    struct access inner;
};

struct touch touch_of(struct warp *w, const struct op *op, uint32_t item);

/* Is this key surely ordered before the access, or the same thread's? The common case. */
static inline bool touch_is_ordered(const struct touch *t, uint32_t key)
{
    const struct clock_warp *clock = &t->w->hazard->clock;
    return key < clock->floor || !((key ^ (clock->mine + t->lane)) & KEY_WHO);
}

/* A strong access may order this block behind others, and others behind this one. */
void touch_strong(struct warp *w, const struct op *op, uint64_t va, bool reads, bool writes);

/* Bytes that nobody wrote, other blocks, other threads: everything about t->lane's access.
 * value: what is stored, NULL when unknown. */
void touch_read(struct touch *t, uint64_t offset, uint64_t bytes);
void touch_write(struct touch *t, uint64_t offset, uint64_t bytes, const uint8_t *value);
void touch_check_written(struct touch *t, uint64_t offset, uint64_t bytes);

/* ---- global_cells.c: threads of one block, where m->write_key is there. A word that several
 * blocks write is left out: they race on it already, or all its accesses are strong. */

/* Before writer[word] or reader[word] change: keys of other blocks are none of this one's. */
void inner_enter(const struct touch *t, uint64_t word);
void inner_read(struct touch *t, uint64_t word);
void inner_write(struct touch *t, uint64_t word, bool same_value);

/* What the operation wrote, once it has been checked for all lanes; for the copy engine, which no
 * thread's key stands for, nobody wrote it. */
void inner_stamp(struct touch *t, uint64_t offset, uint64_t bytes);
void inner_forget(struct touch *t, uint64_t offset, uint64_t bytes);
void inner_stamp_atomic(struct touch *t, uint64_t offset, uint64_t bytes);

/* Did a lane below this one, in the same operation, store something else at this place? */
void inner_check_twins(struct touch *t, uint32_t mask, const uint64_t addr[32], uint32_t bytes);

/* Reads through the read-only path (ld.global.nc) of what this kernel writes. */
void constant_read(struct touch *t, uint64_t word);
void constant_written(struct touch *t, uint64_t word);

#endif
