/* How the interpreter holds a running kernel: decoded operations, warps, blocks, and where the
 * hazard checks are called. For the files of harness/ptx only; callers use ptx.h.
 *
 * Decoded code belongs to the module's arena and never changes while a launch runs, so threads
 * share it. A worker (one per thread) owns one block at a time with its warps, registers, shared
 * and local memory, and its own counters; nothing of a worker is seen by another except global
 * memory.
 *
 * Handlers never call back into the scheduler: they return the next operation. They never see host
 * memory except through mem.h.
 *
 * ## How a warp runs
 * Registers are structure-of-arrays: a 32-bit register is 32 lanes of 4 bytes in a row (also for 8-
 * and 16-bit values, zero-extended), a 64-bit one 32 lanes of 8 bytes, a predicate is one uint32_t
 * with a bit per lane. Operands are byte offsets from warp->regs; immediates and special registers
 * are broadcast into slots of the same file, so a handler knows one operand kind only.
 *
 * A warp is a set of *paths*: lanes that run together with one pc. A divergent branch splits a path
 * and makes a *join* at the branch's immediate post-dominator, where the lanes wait for one
 * another. One path runs at a time; when it blocks, ends or has used its slice, another one gets
 * its turn, so threads of one warp can wait for each other as they can since Volta. */
#ifndef STRIDE_PTX_EXEC_H
#define STRIDE_PTX_EXEC_H

#include "harness/ptx/ptx.h"

struct warp;
struct op;

/* A handler does one operation for the lanes in warp->mask and returns the operation to go on with,
 * or NULL when the warp has to stop (everything waits, ended, or failed). */
typedef const struct op *op_run(struct warp *w, const struct op *op);

enum op_flag {
    OP_GUARD_NOT = 1, /* runs where the guard is false */
    OP_FTZ = 2,       /* subnormals in and out count as zero */
    OP_SAT = 4,       /* clamp the result */
    OP_SIGNED = 8,    /* sign-extend a narrow load */
    OP_NEG_C = 16,    /* source predicate c is written !p */
    OP_RELU = 64,     /* negative results become zero */
    OP_NC = 32,       /* ld.global.nc: the data must not be written during the launch */
};

/* Memory order and scope of loads, stores, atomics and fences. */
enum ptx_sem { SEM_WEAK, SEM_VOLATILE, SEM_RELAXED, SEM_ACQUIRE, SEM_RELEASE, SEM_ACQ_REL, SEM_SC };
enum ptx_scope { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };

struct op {
    uint32_t d[4]; /* destination registers; for stores the values. Vectors use d[0..vec-1] */
    uint32_t a, b, c, e;
    int64_t imm;             /* address offset or immediate */
    const struct op *target; /* branch target, first operation of the called function */
    const uint32_t *list; /* more register offsets: matrix fragments, brx targets, ...; by form */
    const void *extra;    /* by handler: struct code_block, struct call_site, ... */
    uint32_t guard;       /* offset of the guard predicate, 0 when there is none */
    uint32_t line;        /* line id */
    uint32_t site;  /* number of this access, branch or barrier in the module: counters, caches */
    uint16_t run;   /* enum handler the loop calls: the operation's own, or the guard before it */
    uint16_t body;  /* enum handler of the operation itself */
    uint16_t form;  /* row of ops.def */
    uint8_t width;  /* bytes of one element in memory */
    uint8_t vec;    /* elements per lane: 1, 2, 4 */
    uint16_t flags; /* enum op_flag */
    uint8_t space;  /* enum ptx_space */
    uint8_t sem;    /* enum ptx_sem */
    uint8_t scope;  /* enum ptx_scope */
    uint8_t kind;   /* enum ptx_kind */
    uint8_t mode;   /* comparison, rounding, shuffle mode, atomic operation: by handler */
    uint8_t mode2;
};

/* A basic block. Its first op is a pseudo operation ("enter") that counts, joins and spends budget.
 */
struct code_block {
    const struct op *first;
    uint32_t id;           /* in the module: index of worker->block_runs */
    uint32_t count;        /* PTX instructions in it */
    const struct op *join; /* where lanes that part at its end meet again; NULL: at the exit */
    bool is_join;
};

/* A register slot that holds an address known only when a function is entered. */
struct address_slot {
    uint32_t offset;
    bool is_local; /* relative to the activation's depot; else to the dynamic shared memory */
    bool wide;     /* 64-bit slot */
    uint64_t addend;
};

/* A parameter or result in .param space. */
struct param_place {
    uint32_t offset, bytes;
};

/* A decoded function. */
struct func {
    const char *name;
    const struct ptx_module *module;
    const struct op *ops;
    size_t op_count;
    const struct code_block *blocks;
    size_t block_count;
    uint32_t register_bytes;             /* one window, a multiple of 64; predicates first */
    const uint8_t *template_regs;        /* window with every constant in place */
    uint32_t template_from, template_to; /* byte range of it that holds constants */
    const uint32_t *special; /* by enum special (module.h): offset of its slot, 0: unused */
    uint32_t local_bytes;    /* depot, a multiple of 16 */
    uint32_t param_bytes;    /* parameters, results and call arguments of one activation */
    uint32_t index;          /* in the module */
    const struct address_slot *addresses; /* slots whose value depends on launch or activation */
    uint32_t address_count;
    const struct param_place *params, *results;
    uint32_t param_count, result_count;
    bool is_entry;
    bool cross_block; /* its blocks may talk: atomics with results, volatile, fences */
    const struct ptx_symbol *shared;
    size_t shared_count;
};

/* One activation of a function: its registers and its part of local memory. */
struct frame {
    struct frame *caller, *next_free;
    const struct func *func;
    const struct op *return_to; /* in the caller */
    const struct call_site *site;
    uint8_t *regs;
    uint8_t *params;     /* .param variables, words interleaved by lane as in local memory */
    uint32_t local_base; /* of its depot in local memory */
    uint32_t depth;
};

enum path_state { PATH_FREE, PATH_READY, PATH_PARKED };

struct path {
    const struct op *pc;
    uint32_t mask;
    struct frame *frame;
    int32_t join;     /* innermost join, -1: none */
    uint8_t state;    /* enum path_state */
    bool woken;       /* the operation it was parked on may go on, with ... */
    uint32_t value;   /* ... this result (bar.red) */
    uint32_t members; /* of the warp-wide operation it is parked on; 0 when parked elsewhere */
    uint64_t spent;   /* slices it used up without getting anywhere: spin detection */
};

struct join {
    const struct op *at; /* NULL: return of a call */
    struct frame *frame;
    uint32_t expected, arrived;
    int32_t parent;
    int32_t next_free;
    uint32_t paths; /* running paths whose innermost join it is, or below it */
};

enum { WARP_LANES = 32 };

struct warp {
    uint8_t *regs;         /* current frame's window */
    uint32_t mask;         /* lanes of the operation that runs: active minus guarded off */
    uint32_t active;       /* lanes of the current path */
    uint32_t live;         /* lanes that have not exited */
    uint32_t started;      /* lanes that ever ran (a block's last warp may be partial) */
    uint32_t id;           /* in the block */
    int32_t slice;         /* blocks it may still enter before another path gets its turn */
    bool checks, counting; /* copies of the options */
    uint64_t steps;        /* instructions so far, those of the present slice aside */
    bool yield;  /* set by a handler: let others run before going on (try_wait, nanosleep) */
    bool polled; /* set by note_poll: read what others may change (cas, volatile, acquire) */
    struct block *block;
    struct worker *worker;
    struct frame *frame;
    uint32_t current; /* index of the current path */
    struct path paths[WARP_LANES];
    struct join *joins;
    uint32_t join_count, join_capacity;
    int32_t join_free;
    uint8_t *local; /* local memory: byte o of lane l at (o / 4 * 32 + l) * 4 + o % 4 */
    uint32_t local_bytes;
    struct hazard_warp *hazard; /* hazard.h: clocks, generations */
    struct async_warp *async;   /* async.h: copies in flight */
};

enum block_state { BLOCK_RUNNING, BLOCK_DONE, BLOCK_STOPPED };

struct block {
    uint64_t index; /* linear, x fastest */
    uint32_t ctaid[3];
    struct worker *worker;
    struct warp *warps;
    uint32_t warp_count, thread_count;
    uint8_t *shared;       /* 64-byte aligned, with 64 readable bytes behind the end */
    uint32_t shared_bytes; /* static + dynamic: accesses at or behind it are out of bounds */
    uint64_t steps;        /* warp instructions so far */
    enum block_state state;
    struct hazard_block *hazard; /* hazard.h: shadow of shared memory */
    struct sync_block *sync;     /* sync.h: barriers, mbarriers */
};

/* Global memory as the interpreter sees it: the launch's allocations and the image's variables,
 * sorted by address. */
struct memory_map {
    struct ptx_memory *items;
    size_t count;
    struct hazard_memory **hazard; /* one per item, or NULL: hazard.h's shadow of global memory */
};

/* A launch while it runs; shared by all workers and read-only except where noted. */
struct run {
    const struct ptx_launch *launch;
    const struct ptx_entry *entry;
    const struct func *func;
    struct memory_map map;
    const uint8_t *constants; /* const bank, constant_bytes long */
    uint32_t constant_bytes;
    uint32_t shared_bytes;
    uint32_t dynamic_base; /* where dynamic shared memory starts */
    uint64_t block_count;
    uint64_t steps;       /* budget of a block */
    uint64_t next_block;  /* atomic */
    uint64_t stop_after;  /* atomic: blocks with a larger index need not run */
    uint64_t deadline_ns; /* by the monotonic clock, 0: none */
    bool checks, counting;
    struct hazard_run *hazard; /* hazard.h: what all workers share */
};

/* What stopped a block; the one with the lowest block index wins. */
struct stop {
    enum ptx_status status;
    uint64_t block;
    uint32_t line;
    bool has_thread;
    uint32_t warp, lane;
    enum ptx_fault fault;
    enum ptx_space space;
    uint64_t address;
    char message[512];
};

struct worker {
    struct run *run;
    struct block block;
    uint64_t *block_runs, *block_lanes; /* per code_block.id: times entered, active lanes summed */
    uint64_t *divergent;                /* per code_block.id: divergent branches at its end */
    uint32_t *site_memory;              /* per op.site: index of the allocation used last */
    struct ptx_counters counters;       /* what handlers count directly */
    struct site_counters *sites;        /* counters.h: per op.site */
    struct stop stop;
    bool stopped;
    struct buf output;
    struct output_mark { /* from `start` on, output is of this block */
        uint64_t block;
        size_t start;
    } * marks;
    size_t mark_count, mark_capacity;
    uint64_t seed;
    uint64_t polled_at;        /* block's clock + 1 when global memory was polled last, 0: never */
    struct frame **frame_pool; /* free activations per function */
    struct hazard_worker *hazard; /* hazard.h: findings so far */
};

/* Generic addresses: windows far above every allocation, 4 GiB apart, so that the low half of a
 * generic shared address is the shared address. */
#define SHARED_WINDOW 0x00007f1000000000ull
#define LOCAL_WINDOW  0x00007f2000000000ull
#define CONST_WINDOW  0x00007f3000000000ull
#define PARAM_WINDOW  0x00007f4000000000ull
/* Pointers to functions: FUNCTION_WINDOW + 16 * index. */
#define FUNCTION_WINDOW 0x00007f6000000000ull
#define IMAGE_WINDOW    0x00007f5000000000ull

/* ---- for handlers and hooks */

static inline uint32_t *reg32(const struct warp *w, uint32_t offset)
{
    return (uint32_t *)__builtin_assume_aligned(w->regs + offset, 64);
}

static inline uint64_t *reg64(const struct warp *w, uint32_t offset)
{
    return (uint64_t *)__builtin_assume_aligned(w->regs + offset, 64);
}

static inline uint32_t *pred(const struct warp *w, uint32_t offset)
{
    return (uint32_t *)__builtin_assume_aligned(w->regs + offset, 4);
}

static inline void pred_store(struct warp *w, uint32_t offset, uint32_t bits)
{
    uint32_t *p = pred(w, offset);
    *p = (*p & ~w->mask) | (bits & w->mask);
}

/* Thread number in the block of a lane. */
static inline uint32_t warp_thread(const struct warp *w, unsigned lane)
{
    return w->id * WARP_LANES + lane;
}

/* Ends the block with a sentence; the first one stays. Returns NULL, so `return stop_block(...)`
 * also stops the warp. `lane` is 32 when no single thread is to blame. */
const struct op *stop_block(struct warp *w, const struct op *op, enum ptx_status status,
                            unsigned lane, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The warp has used its slice or gives it away: counts, checks the step budget, and lets others
 * run; the current path goes on with `op` later. Returns NULL. */
const struct op *block_turn_over(struct warp *w, const struct op *op);

/* Warp instructions that the block has executed so far, for clocks and traces. */
uint64_t block_clock(const struct warp *w);

/* The same of this warp alone. */
uint64_t warp_clock(const struct warp *w);

/* A lock, a flag, anything that another thread may be waited for with. */
static inline void note_poll(struct warp *w, bool global)
{
    w->polled = true;
    if (global)
        w->worker->polled_at = block_clock(w) + 1;
}

/* Lets a parked path go on: its operation is run again with path->woken set and path->value =
 * value. */
void path_wake(struct warp *w, unsigned path, uint32_t value);

/* Host bytes of [va, va + bytes), or NULL. `hint` is an index into map->items that is tried first
 * and updated. */
uint8_t *memory_find(const struct memory_map *map, uint64_t va, uint64_t bytes, uint32_t *hint);

/* Block and thread coordinates of a lane, for reports. */
struct ptx_thread warp_lane_thread(const struct warp *w, unsigned lane);

/* ---- hooks: what hazard.h, sync.h, async.h and counters.h provide -------------------------------
 *
 * All hooks are called by the handlers (exec_*.c) for the lanes in `mask`, never for others, after
 * bounds and alignment have been checked and BEFORE memory changes. `op` gives line, space, width,
 * vec, sem and scope; values about to be stored are in registers op->d[0..vec-1]. Inline ones are
 * on the hot path and are compiled per instruction set (vec.h gives the vectors). They look at
 * w->checks and w->counting themselves.
 *
 * Shared memory (addr: byte offsets in the shared window; bytes: per lane, 1..16):
 *   static inline void hazard_shared_read_row(w, op, first, bytes)    all 32 lanes, lane i at
 *   static inline void hazard_shared_write_row(w, op, first, bytes)   first + i * bytes; bytes 4,
 * 8, 16 static inline void hazard_shared_read_same(w, op, mask, addr, bytes)  all lanes of mask at
 * addr static inline void hazard_shared_read(w, op, mask, const uint32_t addr[32], bytes) anything
 * else static inline void hazard_shared_write(w, op, mask, const uint32_t addr[32], bytes) void
 * hazard_shared_atomic(w, op, mask, const uint32_t addr[32], bytes)   atom and red
 *
 * Global memory (item: index into run->map.items; offset: in it):
 *   static inline void hazard_global_read_row(w, op, item, offset, bytes)    as for shared memory
 *   static inline void hazard_global_write_row(w, op, item, offset, bytes)
 *   void hazard_global_read(w, op, mask, const uint64_t addr[32], bytes)     generic addresses =
 * VAs void hazard_global_write(w, op, mask, const uint64_t addr[32], bytes) void
 * hazard_global_atomic(w, op, mask, const uint64_t addr[32], bytes)
 *
 * Local memory (addr: offsets into w->local of the lane):
 *   static inline void hazard_local_read(w, op, mask, const uint32_t addr[32], bytes)
 *   static inline void hazard_local_write(w, op, mask, const uint32_t addr[32], bytes)
 *   void hazard_local_fresh(w, mask, base, bytes)    a new activation's depot: uninitialised again
 *
 * Warp-level ordering and findings of the handlers themselves:
 *   void hazard_warp_sync(w, op, members)         bar.warp.sync completed for these lanes
 *   void hazard_warp_collective(w, op, members)   shfl, vote, match, redux completed (no memory
 * order) void hazard_fence(w, op, mask)                membar, fence.*; op->sem, op->scope,
 * op->mode void hazard_absent_lane(w, op, members, absent, outside)  lanes named but missing;
 * callers not named
 *
 * Barriers (count: threads, 0 = all of the block; predicate: for bar.red, per lane):
 *   enum sync_result sync_barrier(w, op, enum barrier_kind, id, count, predicate)
 *       SYNC_PASS: go on now (bar.arrive, or this arrival completed it; bar.red then reads
 *       w->paths[w->current].value). SYNC_WAIT: the caller parks the current path; the arrival that
 *       completes the barrier calls path_wake for every waiting path.
 *   void sync_exit(w, mask)       lanes exit: waiting barriers may complete
 *   bool sync_stuck(block)        no path of the block is ready. Reports why; true when it woke
 * some path to go on with, false ends the block with PTX_DEADLOCK (stop_block has then been
 * called).
 *
 * mbarrier (addr: shared offsets of the 8-byte object, per lane; state: 64-bit register image):
 *   void sync_mbarrier_init(w, op, mask, addr, const uint32_t count[32])
 *   void sync_mbarrier_inval(w, op, mask, addr)
 *   void sync_mbarrier_arrive(w, op, mask, addr, const uint32_t count[32], const uint32_t tx[32],
 *                             uint64_t state[32], enum mbarrier_arrive)  tx, state may be NULL
 *   void sync_mbarrier_expect_tx / _complete_tx(w, op, mask, addr, const uint32_t tx[32])
 *   uint32_t sync_mbarrier_test(w, op, mask, addr, const uint64_t state[32])   lanes whose phase is
 * over uint32_t sync_mbarrier_test_parity(w, op, mask, addr, const uint32_t parity[32]) void
 * sync_mbarrier_pending_count(w, op, mask, const uint64_t state[32], uint32_t count[32])
 *
 * Asynchronous copies (executed late: bytes land when they are waited for):
 *   void async_copy(w, op, mask, const uint32_t dst[32], const uint64_t src[32], size,
 *                   const uint32_t src_bytes[32])   size 4, 8, 16; src_bytes < size: zero-fill
 *   void async_commit(w, op, mask)
 *   void async_wait(w, op, mask, keep)             wait_group keep; UINT32_MAX: wait_all
 *   void async_mbarrier_arrive(w, op, mask, addr, noinc)   cp.async.mbarrier.arrive
 *   void async_bulk_load(w, op, mask, dst[32], src[32], bytes[32], mbarrier[32])
 *   void async_bulk_store(w, op, mask, const uint64_t dst[32], const uint32_t src[32], bytes[32])
 *   void async_bulk_commit(w, op, mask)
 *   void async_bulk_wait(w, op, mask, keep, read)
 *   Addresses of copies are NOT checked by the caller: async.c checks bounds and alignment, at
 * issue, with memory_find and stop_block (and returns false then, so these return bool).
 *
 * Life cycle:
 *   bool hazard_run_open(run, err) / void hazard_run_close(run)     shadows of global memory
 *   void hazard_worker_open / _close(worker)
 *   void hazard_block_begin(block)   shared memory is fresh; also async and sync state
 *   void hazard_block_end(block)     copies never waited for, ...
 *   void hazard_warp_exit(w, op, mask)
 *   void hazard_collect(result, workers, count)   merges findings in block order, writes sentences
 *   void counters_collect(result, run, workers, count)   sums everything into result->counters,
 * lines
 */

#endif
