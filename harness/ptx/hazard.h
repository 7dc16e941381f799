/* The hazard checks: hooks that the operations' handlers call, the findings they lead to, and their
 * life cycle. What each hook is called with stands in exec.h.
 *
 * Findings belong to the worker until hazard_collect merges them into the result. Inline hooks are
 * compiled once per instruction set together with the handlers; all they do is recognise the clean
 * case and hand over everything else.
 *
 * Nothing here changes what the kernel computes. */
#ifndef STRIDE_PTX_HAZARD_H
#define STRIDE_PTX_HAZARD_H

#include "harness/ptx/counters.h"
#include "harness/ptx/exec.h"
#include "harness/ptx/shadow.h"
#include "harness/ptx/timeline.h"
#include "harness/ptx/vec.h"

/* ---- state */

struct hazard_warp {
    struct clock_warp clock;
    uint32_t *write_key, *read_key; /* of the block's shadow */
    uint16_t *write_site, *read_site;
    bool precise;
    uint32_t observed; /* lanes that have seen more than they know: observed.h */
    uint32_t *seen;    /* by op.site: number of the warp's shared access that ran it last */
    uint32_t accesses, interval, own_interval; /* so far; first one since a barrier, a __syncwarp */
    const struct op *idle_op;     /* speculation.c: of this load, at this access, ... */
    uint32_t idle_at, idle_lanes; /* ... the lanes whose value goes nowhere */
    uint8_t *local_set; /* local memory: 4 bits a word, 32 lanes in a row; NULL until used */
    uint32_t local_words;
};

struct hazard_block {
    struct shadow shadow;
    struct clock clock;
    struct hazard_warp warps[32];
    uint32_t
        proxy_own[1024]; /* per thread: epoch that its last fence.proxy.async closed, 0: none */
    uint32_t proxy_all[1024]; /* the newest epoch of anyone at that moment */
    uint32_t *observed;       /* a vector per thread: observed.h */
    uint32_t observed_capacity;
    struct locks *locks;          /* locks.h: what strong writes released, by address */
    uint32_t landings;            /* of copies that report to mbarriers, still to come */
    uint32_t sources_in_flight;   /* lanes of copies from global memory that have not landed */
    uint8_t *raced;               /* by word: a race on it has been reported */
    struct hazard_finding *unset; /* reads of what nobody had written, until the block ends */
    uint32_t unset_count, unset_capacity, raced_words;
    uint64_t source_items;      /* allocations they read, by index modulo 64 */
    uint32_t sources_in_shared; /* bulk stores that have not read their source */
};

/* What all workers share; read-only while blocks run. */
struct hazard_run {
    const struct op **sites; /* by op.site */
    uint32_t site_count;
    uint32_t *next_twin;    /* by site: the next one that does the same at the same place; a ring */
    uint32_t *student_line; /* by line id: first id with the same place in the student's file */
    size_t line_count;
    bool precise; /* partial barriers, mbarriers, fences: readers need lists, writers vectors */
    bool watches_global;        /* some allocation has a shadow */
    struct locks *global_locks; /* between blocks; only in precise runs, which have one worker */
};

/* Why, where one kind has several reasons: picks the sentence. */
enum hazard_reason {
    REASON_PLAIN,
    REASON_SAME_INSTRUCTION, /* lanes of one store, different values */
    REASON_ATOMIC,           /* the other side, or this one, is an atomic */
    REASON_STORE,            /* a store into bytes in flight */
    REASON_COPY,             /* a copy over a copy, or a copy over a fresh store */
    REASON_BULK,
    REASON_SAME_WARP,
    REASON_NO_ACQUIRE, /* a flag was seen, but no fence stands behind the read of it */
    REASON_LOCAL,
    REASON_GLOBAL,
    REASON_UNCOMMITTED, /* never waited: no commit_group closed it */
    REASON_ABSENT,
    REASON_OUTSIDE,
    REASON_EXITED,
    REASON_NARROW,  /* strong on both sides, but of a scope that ends at the block */
    REASON_UNNAMED, /* a shuffle: the source is not in the mask */
    REASON_PAIRED,  /* barriers: reached by different ways */
    REASON_MISSING,
    REASON_COUNT_WRONG,
    REASON_NOT_INIT,
    REASON_STILL_USED,
    REASON_TOO_MANY,
    REASON_NO_PHASE,
    REASON_MISALIGNED,
    REASON_NO_TX,
    REASON_MATRIX_ADDRESS,
    REASON_MATRIX_ROW,
    REASON_MATRIX_STRIDE,
    REASON_MATRIX_NARROW,
    REASON_MATRIX_DIFFERS
};

struct hazard_finding {
    enum ptx_hazard_kind kind;
    enum hazard_reason reason;
    uint32_t line, other_line;
    uint64_t block;
    uint32_t thread, other; /* in the block; UINT32_MAX: nobody in particular */
    uint64_t other_block;   /* UINT64_MAX: the same */
    enum ptx_space space;
    uint64_t address;
    uint32_t bytes, element;
    uint64_t count;
    uint32_t note[4]; /* numbers for the sentence, by kind: masks, counts, barrier ids */
};

enum { HAZARD_FINDINGS = 256, NOBODY = UINT32_MAX };

struct hazard_worker {
    struct hazard_block block; /* of the block that runs */
    struct hazard_finding *findings;
    uint32_t count;
    bool cut;
    uint32_t last; /* index of the finding counted last */
    struct timeline timeline;
    uint8_t *bulk_sites;      /* per site: it is a bulk copy */
    struct async_warp *async; /* one per warp */
    struct sync_block *sync;
    uint16_t *global_known;    /* global.h: per block of the grid, what this one has learnt of it */
    uint16_t *global_observed; /* the same, seen and not taken in yet */
    bool global_observes;
    uint16_t global_epoch, global_fenced;
};

/* Counts a finding in its group, and keeps it when it is the group's first. `finding` needs kind,
 * reason, line, other_line and what is known of the rest; block is filled in. */
void hazard_add(struct warp *w, const struct hazard_finding *finding);

/* Line id of a site; 0 when unknown. */
uint32_t hazard_site_line(const struct warp *w, uint32_t site);
const struct op *hazard_site_op(const struct warp *w, uint32_t site);

/* Volatile, relaxed and stronger accesses, and atomics, do not race with one another. */
bool hazard_is_strong(const struct op *op);

/* Does the read in it acquire by itself? A relaxed or volatile one needs a fence behind it. */
bool hazard_acquires(const struct op *op);

/* A strong read, write or both at an address (shared offset, or global address): acquires, or
 * observes, what was released there, and releases what this lane did before its last fence. */
void hazard_strong(struct warp *w, const struct op *op, unsigned lane, uint64_t address, bool reads,
                   bool writes);

/* The innermost frame of a line that lies in the kernel's own file. */
uint32_t hazard_student_frame(const struct ptx_module *module, uint32_t id);

/* A read of shared memory that nobody has written yet. It is kept until the block ends: when a
 * write turns up that nothing orders, the race says more. */
void hazard_add_unset(struct warp *w, const struct hazard_finding *finding);

/* Starts an interval: what this warp did so far is behind a barrier. */
static inline void hazard_new_interval(struct hazard_warp *h)
{
    h->interval = h->own_interval = h->accesses + 1;
}

static inline void hazard_note(struct hazard_warp *h, const struct op *op)
{
    h->seen[op->site] = ++h->accesses;
}

/* ---- global memory (global.c) */

void ISA(global_read_row)(struct warp *w, const struct op *op, uint32_t item, uint64_t offset,
                          uint32_t bytes);
void ISA(global_write_row)(struct warp *w, const struct op *op, uint32_t item, uint64_t offset,
                           uint32_t bytes);
void hazard_global_read_lanes(struct warp *w, const struct op *op, uint32_t mask,
                              const uint64_t addr[32], uint32_t bytes);
void hazard_global_write_lanes(struct warp *w, const struct op *op, uint32_t mask,
                               const uint64_t addr[32], uint32_t bytes);
void hazard_global_atomic_lanes(struct warp *w, const struct op *op, uint32_t mask,
                                const uint64_t addr[32], uint32_t bytes);

static inline void hazard_global_read_row(struct warp *w, const struct op *op, uint32_t item,
                                          uint64_t offset, uint32_t bytes)
{
    if (w->counting)
        counters_global_row(w, op, offset, bytes);
    const struct memory_map *map = &w->worker->run->map;
    if (w->checks && (map->hazard[item] || map->items[item].written))
        ISA(global_read_row)(w, op, item, offset, bytes);
}

static inline void hazard_global_write_row(struct warp *w, const struct op *op, uint32_t item,
                                           uint64_t offset, uint32_t bytes)
{
    if (w->counting)
        counters_global_row(w, op, offset, bytes);
    const struct memory_map *map = &w->worker->run->map;
    if (w->checks && (map->hazard[item] || map->items[item].written ||
                      w->block->hazard->source_items >> (item & 63) & 1))
        ISA(global_write_row)(w, op, item, offset, bytes);
}

static inline void hazard_global_read(struct warp *w, const struct op *op, uint32_t mask,
                                      const uint64_t addr[32], uint32_t bytes)
{
    if (w->counting)
        counters_global(w, op, mask, addr, bytes);
    if (w->checks && w->worker->run->hazard->watches_global)
        hazard_global_read_lanes(w, op, mask, addr, bytes);
}

static inline void hazard_global_write(struct warp *w, const struct op *op, uint32_t mask,
                                       const uint64_t addr[32], uint32_t bytes)
{
    if (w->counting)
        counters_global(w, op, mask, addr, bytes);
    if (w->checks)
        hazard_global_write_lanes(w, op, mask, addr, bytes);
}

static inline void hazard_global_atomic(struct warp *w, const struct op *op, uint32_t mask,
                                        const uint64_t addr[32], uint32_t bytes)
{
    if (w->counting)
        counters_global(w, op, mask, addr, bytes);
    if (w->checks)
        hazard_global_atomic_lanes(w, op, mask, addr, bytes);
}

/* ---- local memory */

void hazard_local_read_lanes(struct warp *w, const struct op *op, uint32_t mask,
                             const uint32_t addr[32], uint32_t bytes);
void hazard_local_write_lanes(struct warp *w, const struct op *op, uint32_t mask,
                              const uint32_t addr[32], uint32_t bytes);

static inline void hazard_local_read(struct warp *w, const struct op *op, uint32_t mask,
                                     const uint32_t addr[32], uint32_t bytes)
{
    if (w->counting)
        counters_local(w, op, mask, bytes);
    if (w->checks)
        hazard_local_read_lanes(w, op, mask, addr, bytes);
}

static inline void hazard_local_write(struct warp *w, const struct op *op, uint32_t mask,
                                      const uint32_t addr[32], uint32_t bytes)
{
    if (w->counting)
        counters_local(w, op, mask, bytes);
    if (w->checks)
        hazard_local_write_lanes(w, op, mask, addr, bytes);
}

/* A new activation's depot: [base, base + bytes) of w->local counts as never written again. */
void hazard_local_fresh(struct warp *w, uint32_t mask, uint32_t base, uint32_t bytes);

/* ---- order inside a warp, and findings of the handlers */

void hazard_warp_sync(struct warp *w, const struct op *op, uint32_t members);
void hazard_warp_collective(struct warp *w, const struct op *op, uint32_t members);
void hazard_fence(struct warp *w, const struct op *op, uint32_t mask);

/* A shuffle, vote or __syncwarp whose mask names lanes that are not there (absent), or that is
 * executed by lanes the mask does not name (outside). */
void hazard_absent_lane(struct warp *w, const struct op *op, uint32_t members, uint32_t absent,
                        uint32_t outside);

/* Lanes that shuffle values out of lanes which the mask does not name. Only what they get is
 * undefined: right programs never use it (ptx_hazard.if_used). */
void hazard_unnamed_source(struct warp *w, const struct op *op, uint32_t members, uint32_t readers,
                           uint32_t sources);

/* ---- life cycle */

bool hazard_run_open(struct run *run, struct err *err);
void hazard_run_close(struct run *run);
void hazard_worker_open(struct worker *worker);
void hazard_worker_close(struct worker *worker);

/* Shared memory is fresh, nothing is in flight; points block->hazard, ->sync and the warps' hazard
 * and async at the worker's. Call it for every block, with checks or without. */
void hazard_block_begin(struct block *block);

/* All warps have exited (or the block was stopped): what was never waited for. */
void hazard_block_end(struct block *block);
void hazard_warp_exit(struct warp *w, const struct op *op, uint32_t mask);

/* Merges the workers' findings in block order into result->hazards, with their sentences. */
void hazard_collect(struct ptx_result *result, const struct run *run, struct worker *workers,
                    size_t count);

#endif
