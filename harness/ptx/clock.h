/* Happens-before inside one block: which earlier access is ordered before the one that runs now.
 *
 * Every shared-memory access is remembered as a *key*: an epoch in the high bits, who did it in the
 * low ones. Epochs are drawn from one counter of the block, so a key below a warp's `floor` is
 * ordered before everything this warp does next, whoever wrote it, and one compare decides. As long
 * as only
 * __syncthreads and full __syncwarp order things, floors are all there is (scalar mode). The first
 * partial barrier, mbarrier or release adds a vector per warp: the newest epoch known of each
 * thread of the block; a warp whose lanes know different things has one vector per lane. A barrier
 * of the whole block leaves nothing to know apart, so it goes back to scalar mode.
 *
 * A clock owns its vectors; vectors of barriers and locks are the caller's, clock_stride() long. It
 * knows nothing of memory, and never reports anything. */
#ifndef STRIDE_PTX_CLOCK_H
#define STRIDE_PTX_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* ---- keys */

enum {
    KEY_WHO_BITS = 11,
    KEY_WHO = (1 << KEY_WHO_BITS) - 1,
    WHO_MANY = 1024,    /* | warp << 5: several lanes of one warp */
    WHO_SEVERAL = 1025, /* | warp << 5: lanes of several warps, the last of them of this one */
    WHO_ASYNC = 1027,   /* the copy engine: bulk copies, and copies that an mbarrier reports */
};

#define KEY_EPOCHS  (1u << (32 - KEY_WHO_BITS))
#define KEY_SPECIAL ((KEY_EPOCHS - 1) << KEY_WHO_BITS) /* keys from here on are no epochs */
#define KEY_PENDING KEY_SPECIAL           /* | thread: a copy this thread issued has not landed */
#define KEY_LIST    (KEY_SPECIAL | 2045u) /* readers: see the list of readers */
#define KEY_SPLIT   (KEY_SPECIAL | 2046u) /* the word's four bytes have keys of their own */
#define KEY_UNSET   (KEY_SPECIAL | 2047u) /* never written */

static inline bool key_is_pending(uint32_t key)
{
    return key >= KEY_PENDING && key < KEY_PENDING + 1024;
}

static inline bool key_is_thread(uint32_t key)
{
    return key < KEY_SPECIAL && !(key & WHO_MANY);
}

static inline bool key_is_many(uint32_t key)
{
    return key < KEY_SPECIAL && (key & 0x41f) == WHO_MANY;
}

static inline bool key_is_several(uint32_t key)
{
    return key < KEY_SPECIAL && (key & 0x41f) == WHO_SEVERAL;
}

static inline bool key_is_async(uint32_t key)
{
    return key < KEY_SPECIAL && (key & KEY_WHO) == WHO_ASYNC;
}

/* Warp of a key of a thread, of many or several. */
static inline uint32_t key_warp(uint32_t key)
{
    return key >> 5 & 31;
}

/* ---- clocks */

/* What the hot path needs of one warp. Keys, so that it compares without shifting. */
struct clock_warp {
    uint32_t mine;       /* key of lane 0's next access; lane i's is mine + i */
    uint32_t many;       /* key of an access by several lanes */
    uint32_t floor;      /* keys below are ordered before, whoever they are */
    uint32_t own_floor;  /* the same for this warp's own lanes */
    uint32_t fenced[32]; /* per lane: the epoch its last fence closed, 0: none */
    bool split;          /* lanes have vectors of their own */
};

struct clock {
    uint32_t now; /* newest epoch drawn */
    uint32_t warp_count, thread_count, stride;
    bool vectors;
    struct clock_warp *warps[32]; /* borrowed: part of whatever the hot path has at hand */
    uint32_t async_newest;        /* newest epoch of the copy engine in this block */
    uint32_t *rows; /* thread_count vectors; a warp that is not split uses its lane 0's */
    uint32_t row_capacity;
    uint32_t *scratch;
    void (*forget)(void *owner); /* epochs ran out: make every plain key 0 */
    void *owner;
};

/* A clock is zeroed memory with warps, forget and owner set. Starts a block; vectors are kept from
 * block to block. */
void clock_begin(struct clock *clock, uint32_t thread_count);
void clock_free(struct clock *clock);

/* Length of a vector in uint32_t: an entry per thread and one for the copy engine. */
uint32_t clock_stride(const struct clock *clock);

/* Is the access behind `key` ordered before the next access of this lane? Not for special keys. */
bool clock_ordered(const struct clock *clock, uint32_t warp, unsigned lane, uint32_t key);

/* The same for one thread's (or WHO_ASYNC's) epoch. */
bool clock_knows(const struct clock *clock, uint32_t warp, unsigned lane, uint32_t who,
                 uint32_t epoch);

/* A barrier of all threads that have not exited. */
void clock_block_barrier(struct clock *clock);

/* A barrier among `lanes` of a warp whose other live lanes are live & ~lanes. */
void clock_warp_sync(struct clock *clock, uint32_t warp, uint32_t lanes, uint32_t live);

/* Adds to `vector` all that each of these lanes knows and did. Later accesses of the warp are
 * newer. */
void clock_release(struct clock *clock, uint32_t warp, uint32_t lanes, uint32_t *vector);

/* The same for what a lane did before its last fence; nothing when it never fenced. */
void clock_release_fenced(struct clock *clock, uint32_t warp, uint32_t lanes, uint32_t *vector);

/* These lanes learn all of `vector`. */
void clock_acquire(struct clock *clock, uint32_t warp, uint32_t lanes, uint32_t live,
                   const uint32_t *vector);

/* Later accesses of the warp are newer than all so far. */
void clock_advance(struct clock *clock, uint32_t warp);

/* A fence: what these lanes did so far may be released by their next strong write. */
void clock_fence(struct clock *clock, uint32_t warp, uint32_t lanes);

/* A new epoch for accesses of the copy engine: returns the key and puts the epoch into `vector`. */
uint32_t clock_async_key(struct clock *clock, uint32_t *vector);

#endif
