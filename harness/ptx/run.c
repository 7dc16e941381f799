/* A worker at its blocks: warps take turns until all have ended, wait for what can't come, or one
 * of them stops the block. */
#include "harness/base/msg.h"
#include "harness/ptx/async.h"
#include "harness/ptx/control.h"
#include "harness/ptx/handlers.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/module.h"
#include "harness/ptx/run.h"
#include "harness/ptx/sync.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    SLICE_INSTRUCTIONS = 8192, /* of one path, before others get their turn */
    FRUITLESS_ROUNDS = 4096,   /* rounds in which everybody only polled: nothing will come */
    DEFAULT_OUTPUT = 64 * 1024,
};

/* ---- what stops a block */

const struct op *stop_block(struct warp *w, const struct op *op, enum ptx_status status,
                            unsigned lane, const char *format, ...)
{
    struct worker *worker = w->worker;
    if (worker->stopped)
        return NULL;
    worker->stopped = true;
    struct stop *stop = &worker->stop;
    *stop = (struct stop){.status = status,
                          .block = w->block->index,
                          .line = op ? op->line : 0,
                          .has_thread = lane < WARP_LANES,
                          .warp = w->id,
                          .lane = lane,
                          .fault = status == PTX_FAULT ? PTX_FAULT_OTHER : PTX_FAULT_NONE,
                          .space = PTX_SPACE_NONE};
    va_list args;
    va_start(args, format);
    vsnprintf(stop->message, sizeof stop->message, format, args);
    va_end(args);
    w->block->state = BLOCK_STOPPED;
    uint64_t known = __atomic_load_n(&worker->run->stop_after, __ATOMIC_RELAXED);
    while (stop->block < known &&
           !__atomic_compare_exchange_n(&worker->run->stop_after, &known, stop->block, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return NULL;
}

struct ptx_thread warp_lane_thread(const struct warp *w, unsigned lane)
{
    const uint32_t *size = w->worker->run->launch->block;
    uint32_t t = warp_thread(w, lane);
    struct ptx_thread thread = {
        .thread = {t % size[0], t / size[0] % size[1], t / size[0] / size[1]}};
    memcpy(thread.block, w->block->ctaid, sizeof thread.block);
    return thread;
}

/* ---- turns */

/* Instructions of the slice that were used go to the block's step count. */
static void settle_slice(struct warp *w)
{
    w->block->steps += (uint64_t)(SLICE_INSTRUCTIONS - w->slice);
    w->steps += (uint64_t)(SLICE_INSTRUCTIONS - w->slice);
    w->slice = SLICE_INSTRUCTIONS;
}

uint64_t block_clock(const struct warp *w)
{
    return w->block->steps + (uint64_t)(SLICE_INSTRUCTIONS - w->slice);
}

uint64_t run_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t warp_clock(const struct warp *w)
{
    return w->steps + (uint64_t)(SLICE_INSTRUCTIONS - w->slice);
}

/* Blocks run one after the other. One that does nothing but look at global memory while later
 * blocks have not started may wait for them, and on a GPU they could be there: that is our limit,
 * not the kernel's fault. */
static bool waits_for_later_block(struct warp *w, const struct op *op)
{
    const struct worker *worker = w->worker;
    const struct block *block = w->block;
    uint64_t recent =
        block->steps > 4 * SLICE_INSTRUCTIONS ? block->steps - 4 * SLICE_INSTRUCTIONS : 0;
    if (block->index + 1 >= worker->run->block_count || worker->polled_at <= recent)
        return false;
    stop_block(
        w, op, PTX_UNSUPPORTED, WARP_LANES,
        _("block %llu waits for another block that has not started: the simulator runs blocks "
          "one after the other"),
        (unsigned long long)block->index);
    return true;
}

const struct op *block_turn_over(struct warp *w, const struct op *op)
{
    settle_slice(w);
    if (w->block->steps > w->worker->run->steps && waits_for_later_block(w, op))
        return NULL;
    if (w->block->steps > w->worker->run->steps)
        return stop_block(w, op, PTX_TIMED_OUT, (unsigned)__builtin_ctz(w->active),
                          _("still running after %llu warp instructions of one block: an endless "
                            "loop, or far too much work"),
                          (unsigned long long)w->worker->run->steps);
    bool late = w->worker->run->deadline_ns && run_now_ns() > w->worker->run->deadline_ns;
    if (late && waits_for_later_block(w, op))
        return NULL;
    if (late)
        return stop_block(w, op, PTX_TIMED_OUT, (unsigned)__builtin_ctz(w->active), "%s",
                          _("not done in time: an endless loop, or far too much work"));
    return path_yield(w, op);
}

static uint64_t next_random(uint64_t *seed)
{
    uint64_t x = *seed += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static void order_warps(struct worker *worker, uint32_t *order, uint32_t count)
{
    enum ptx_order how = worker->run->launch->options.order;
    for (uint32_t i = 0; i < count; i++)
        order[i] = how == PTX_REVERSE ? count - 1 - i : i;
    for (uint32_t i = count; how == PTX_RANDOM && i > 1; i--) {
        uint32_t j = (uint32_t)(next_random(&worker->seed) % i), swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}

static void exec_warp(struct warp *w, enum ptx_isa isa)
{
    w->yield = false;
    /* Warps that only get from barrier to barrier never use up a slice: where the budget is spent,
     * the next basic block is the last. */
    w->slice = w->block->steps > w->worker->run->steps ? 0 : SLICE_INSTRUCTIONS;
    if (isa == PTX_ISA_AVX512)
        exec_warp_avx512(w);
    else if (isa == PTX_ISA_AVX2)
        exec_warp_avx2(w);
    else
        exec_warp_base(w);
    settle_slice(w);
}

/* One turn for every warp that can run. *alive: some warp has not ended; *worked: somebody did more
 * than poll. False when nobody could run. */
static bool run_round(struct block *block, enum ptx_isa isa, bool *alive, bool *worked)
{
    uint32_t order[MAX_THREADS_PER_BLOCK / WARP_LANES];
    bool ran = false;
    order_warps(block->worker, order, block->warp_count);
    *alive = *worked = false;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[order[i]];
        if (w->live && path_any_ready(w)) {
            exec_warp(w, isa);
            ran = true;
            *worked |= !w->yield;
            if (block->worker->stopped)
                return true;
        }
        *alive |= w->live != 0;
    }
    return ran;
}

/* Where a warp that has not ended stands: all that live only poll. */
static const struct op *polling_op(const struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        const struct warp *w = &block->warps[i];
        for (unsigned k = 0; w->live && k < WARP_LANES; k++)
            if (w->paths[k].state == PATH_READY)
                return w->paths[k].pc;
    }
    return NULL;
}

static void run_turns(struct block *block, enum ptx_isa isa)
{
    uint32_t fruitless = 0;
    bool alive = true, worked;
    while (alive && !block->worker->stopped) {
        bool ran = run_round(block, isa, &alive, &worked);
        fruitless = worked ? 0 : fruitless + 1;
        if (!alive || block->worker->stopped)
            return;
        if (ran && fruitless < FRUITLESS_ROUNDS)
            continue;
        if (ran && waits_for_later_block(&block->warps[0], polling_op(block)))
            return;
        fruitless = 0;
        if (collective_release(block) || sync_stuck(block))
            continue;
        stop_block(&block->warps[0], NULL, PTX_DEADLOCK, WARP_LANES, "%s",
                   _("no thread of the block can go on: each waits for another one"));
    }
}

/* ---- blocks */

static void start_warps(struct block *block)
{
    struct worker *worker = block->worker;
    const struct func *func = worker->run->func;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[i];
        uint32_t left = block->thread_count - i * WARP_LANES;
        w->started = w->live = left >= WARP_LANES ? FULL_MASK : (1u << left) - 1;
        w->active = w->live;
        w->frame = NULL;
        path_start(w, frame_open(w, func, NULL));
    }
}

static void run_block(struct worker *worker, uint64_t index, enum ptx_isa isa)
{
    struct block *block = &worker->block;
    const uint32_t *grid = worker->run->launch->grid;
    block->index = index;
    block->ctaid[0] = (uint32_t)(index % grid[0]);
    block->ctaid[1] = (uint32_t)(index / grid[0] % grid[1]);
    block->ctaid[2] = (uint32_t)(index / grid[0] / grid[1]);
    block->steps = 0;
    worker->polled_at = 0;
    block->state = BLOCK_RUNNING;
    worker->seed = worker->run->launch->options.seed * 0x9e3779b97f4a7c15ull + index;
    memset(block->shared, 0xcd, block->shared_bytes);
    hazard_block_begin(block);
    start_warps(block);
    run_turns(block, isa);
    hazard_block_end(block);
    for (uint32_t i = 0; i < block->warp_count; i++)
        path_finish(&block->warps[i]);
    if (!worker->stopped)
        block->state = BLOCK_DONE;
    worker->counters.blocks++;
    worker->counters.warps += block->warp_count;
}

/* ---- workers */

const struct module *run_module(const struct run *run)
{
    return run->launch->module->internal;
}

void run_open_worker(struct worker *worker, struct run *run)
{
    const struct module *module = run_module(run);
    const uint32_t *size = run->launch->block;
    struct block *block = &worker->block;
    worker->run = run;
    worker->block_runs = mem_zero(module->block_count + 1, sizeof(uint64_t));
    worker->block_lanes = mem_zero(module->block_count + 1, sizeof(uint64_t));
    worker->divergent = mem_zero(module->block_count + 1, sizeof(uint64_t));
    worker->site_memory = mem_zero(module->site_count + 1, sizeof(uint32_t));
    worker->sites = mem_zero(module->site_count + 1, sizeof *worker->sites);
    worker->frame_pool = mem_zero(module->function_count + 1, sizeof(struct frame *));
    size_t cap = run->launch->options.output_cap;
    worker->output.cap = cap ? cap : DEFAULT_OUTPUT;
    block->worker = worker;
    block->thread_count = size[0] * size[1] * size[2];
    block->warp_count = (block->thread_count + WARP_LANES - 1) / WARP_LANES;
    block->warps = mem_zero(block->warp_count, sizeof *block->warps);
    block->shared_bytes = run->shared_bytes;
    block->shared = aligned_alloc(64, ((size_t)run->shared_bytes + 64 + 127) & ~(size_t)63);
    if (!block->shared)
        abort();
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[i];
        w->id = i;
        w->block = block;
        w->worker = worker;
        w->checks = run->checks;
        w->counting = run->counting;
    }
    hazard_worker_open(worker);
}

static void frame_free(struct frame *frame)
{
    while (frame) {
        struct frame *next = frame->next_free;
        free(frame->regs);
        free(frame->params);
        free(frame);
        frame = next;
    }
}

void run_close_worker(struct worker *worker)
{
    struct block *block = &worker->block;
    hazard_worker_close(worker);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        free(block->warps[i].joins);
        free(block->warps[i].local);
    }
    for (uint32_t i = 0; i < run_module(worker->run)->function_count; i++)
        frame_free(worker->frame_pool[i]);
    free(block->warps);
    free(block->shared);
    free(worker->block_runs);
    free(worker->block_lanes);
    free(worker->divergent);
    free(worker->site_memory);
    free(worker->sites);
    free(worker->frame_pool);
    free(worker->marks);
    buf_free(&worker->output);
}

enum ptx_isa run_pick_isa(enum ptx_isa asked)
{
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    if (avx512 && (asked == PTX_ISA_BEST || asked == PTX_ISA_AVX512))
        return PTX_ISA_AVX512;
    if (avx2 && asked != PTX_ISA_BASE)
        return PTX_ISA_AVX2;
    return PTX_ISA_BASE;
}

void *run_work(void *argument)
{
    struct worker *worker = argument;
    struct run *run = worker->run;
    enum ptx_isa isa = run_pick_isa(run->launch->options.isa);
    while (!worker->stopped) {
        uint64_t index = __atomic_fetch_add(&run->next_block, 1, __ATOMIC_RELAXED);
        if (index >= run->block_count ||
            index > __atomic_load_n(&run->stop_after, __ATOMIC_RELAXED))
            break;
        run_block(worker, index, isa);
    }
    return NULL;
}
