/* Launches: checking them, the memory map, starting workers, and putting their results together in
 * an order that does not depend on which thread ran what. */
#include "harness/base/msg.h"
#include "harness/ptx/control.h"
#include "harness/ptx/counters.h"
#include "harness/ptx/footprint.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/image.h"
#include "harness/ptx/module.h"
#include "harness/ptx/run.h"
#include "harness/ptx/snapshot.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DEFAULT_STEPS = 1 << 28,
    MAX_SHARED_BYTES = 232448, /* per block: the most any device up to sm_90 has */
};

static int by_address(const void *a, const void *b)
{
    const struct ptx_memory *x = a, *y = b;
    return (x->va > y->va) - (x->va < y->va);
}

static void build_map(struct run *run)
{
    const struct ptx_launch *launch = run->launch;
    size_t extra = launch->image ? launch->image->item_count : 0;
    run->map.items = mem_zero(launch->memory_count + extra + 1, sizeof *run->map.items);
    for (size_t i = 0; i < launch->memory_count; i++) {
        if (launch->memory[i].bytes)
            run->map.items[run->map.count++] = launch->memory[i];
    }
    for (size_t i = 0; i < extra; i++)
        run->map.items[run->map.count++] = launch->image->items[i];
    qsort(run->map.items, run->map.count, sizeof *run->map.items, by_address);
}

static bool check_shape(const struct ptx_launch *launch, struct err *err)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!launch->grid[i] || !launch->block[i])
            return err_set(err, "%s",
                           _("a launch needs at least one block and one thread in each dimension"));
        if (launch->block[i] > MAX_THREADS_PER_BLOCK)
            return err_set(err, "%s", _("a block has at most 1024 threads"));
        threads *= launch->block[i];
    }
    if (launch->grid[1] > 65535 || launch->grid[2] > 65535 || launch->grid[0] > INT32_MAX)
        return err_set(err, _("the grid %ux%ux%u is too large"), launch->grid[0], launch->grid[1],
                       launch->grid[2]);
    if (threads > MAX_THREADS_PER_BLOCK)
        return err_set(err, _("a block of %u threads: at most 1024 are possible"),
                       (unsigned)threads);
    return true;
}

static bool check_launch(struct run *run, struct err *err)
{
    const struct ptx_launch *launch = run->launch;
    run->entry = ptx_find_entry(launch->module, launch->entry);
    if (!run->entry)
        return err_set(err, _("the program has no kernel named %s"), launch->entry);
    if (!check_shape(launch, err))
        return false;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    if (run->entry->max_threads && threads > run->entry->max_threads)
        return err_set(err, _("a block of %u threads, but %s is bound to %u"), (unsigned)threads,
                       launch->entry, run->entry->max_threads);
    if (launch->param_bytes != run->entry->param_bytes)
        return err_set(err, _("%s takes %u bytes of parameters, not %zu"), launch->entry,
                       run->entry->param_bytes, launch->param_bytes);
    if ((uint64_t)run->entry->static_shared_bytes + launch->dynamic_shared_bytes > MAX_SHARED_BYTES)
        return err_set(err, _("%u + %u bytes of shared memory: at most %d are possible"),
                       run->entry->static_shared_bytes, launch->dynamic_shared_bytes,
                       MAX_SHARED_BYTES);
    uint32_t local_bytes = run->entry->local_bytes;
    if (local_bytes > FRAME_MAX_LOCAL)
        return err_set(err, _("%u bytes of local memory per thread: at most %d are possible"),
                       local_bytes, FRAME_MAX_LOCAL);
    if (!launch->image && (launch->module->global_bytes || launch->module->constant_bytes))
        return err_set(err, "the module has variables, but no image was opened for it");
    return true;
}

static bool open_run(struct run *run, const struct ptx_launch *launch, struct err *err)
{
    *run = (struct run){.launch = launch, .stop_after = UINT64_MAX};
    if (!check_launch(run, err))
        return false;
    run->func = run->entry->func;
    run->checks = launch->options.checks;
    run->counting = launch->options.counters;
    run->steps = launch->options.steps ? launch->options.steps : DEFAULT_STEPS;
    if (launch->options.deadline_ms > 0)
        run->deadline_ns = run_now_ns() + (uint64_t)(launch->options.deadline_ms * 1e6);
    run->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    run->dynamic_base = run_module(run)->dynamic_shared_from;
    run->shared_bytes = run->entry->static_shared_bytes;
    if (launch->dynamic_shared_bytes)
        run->shared_bytes = run->dynamic_base + launch->dynamic_shared_bytes;
    if (launch->image) {
        run->constants = launch->image->constants;
        run->constant_bytes = launch->module->constant_bytes;
    }
    build_map(run);
    if (hazard_run_open(run, err))
        return true;
    free(run->map.items);
    return false;
}

/* The earliest stop in block order. Later blocks may or may not have run; they don't count. */
static const struct worker *first_stopped(const struct worker *workers, unsigned count)
{
    const struct worker *first = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (workers[i].stopped && (!first || workers[i].stop.block < first->stop.block))
            first = &workers[i];
    }
    return first;
}

static void report_stop(struct ptx_result *out, const struct worker *worker)
{
    const struct stop *stop = &worker->stop;
    const struct ptx_launch *launch = worker->run->launch;
    out->status = stop->status;
    out->line = stop->line;
    out->fault = stop->fault;
    out->fault_space = stop->space;
    out->fault_address = stop->address;
    out->has_thread = stop->has_thread;
    snprintf(out->message, sizeof out->message, "%s", stop->message);
    uint32_t t = stop->warp * WARP_LANES + (stop->has_thread ? stop->lane : 0);
    out->thread.thread[0] = t % launch->block[0];
    out->thread.thread[1] = t / launch->block[0] % launch->block[1];
    out->thread.thread[2] = t / launch->block[0] / launch->block[1];
    out->thread.block[0] = (uint32_t)(stop->block % launch->grid[0]);
    out->thread.block[1] = (uint32_t)(stop->block / launch->grid[0] % launch->grid[1]);
    out->thread.block[2] = (uint32_t)(stop->block / launch->grid[0] / launch->grid[1]);
}

struct piece {
    uint64_t block;
    const char *text;
    size_t len;
};

static int by_block(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->block > y->block) - (x->block < y->block);
}

static void collect_output(struct ptx_result *out, struct worker *workers, unsigned count)
{
    size_t total = 0, n = 0;
    for (unsigned i = 0; i < count; i++)
        total += workers[i].mark_count;
    struct piece *pieces = mem_zero(total + 1, sizeof *pieces);
    for (unsigned i = 0; i < count; i++) {
        const struct worker *w = &workers[i];
        for (size_t m = 0; m < w->mark_count; m++) {
            size_t end = m + 1 < w->mark_count ? w->marks[m + 1].start : w->output.len;
            pieces[n++] = (struct piece){.block = w->marks[m].block,
                                         .text = buf_str(&w->output) + w->marks[m].start,
                                         .len = end - w->marks[m].start};
        }
        out->output.cut |= w->output.cut;
    }
    qsort(pieces, n, sizeof *pieces, by_block);
    out->output.cap = workers[0].output.cap;
    for (size_t i = 0; i < n; i++)
        buf_add(&out->output, pieces[i].text, pieces[i].len);
    free(pieces);
}

static void run_workers(struct worker *workers, unsigned count)
{
    pthread_t threads[64];
    unsigned started = 0;
    while (started + 1 < count &&
           !pthread_create(&threads[started], NULL, run_work, &workers[started + 1]))
        started++;
    run_work(&workers[0]);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* On how many threads this may run without any difference in the result. */
static unsigned pick_threads(const struct run *run)
{
    unsigned count = run->launch->options.threads ? run->launch->options.threads : 1;
    if (run->func->cross_block)
        return 1;
    count = count > 64 ? 64 : count;
    return count > run->block_count ? (unsigned)run->block_count : count;
}

static void run_blocks(struct ptx_result *out, struct run *run, unsigned count)
{
    struct worker *workers = mem_zero(count, sizeof *workers);
    for (unsigned i = 0; i < count; i++)
        run_open_worker(&workers[i], run);
    run_workers(workers, count);
    const struct worker *stopped = first_stopped(workers, count);
    if (stopped)
        report_stop(out, stopped);
    out->isa = run_pick_isa(run->launch->options.isa);
    out->threads = count;
    collect_output(out, workers, count);
    hazard_collect(out, run, workers, count);
    counters_collect(out, run, workers, count);
    if (run->launch->options.footprint)
        footprint_collect(out, run);
    for (unsigned i = 0; i < count; i++)
        run_close_worker(&workers[i]);
    free(workers);
}

/* Does the result depend on which block came first? Then only one thread gives the same every time.
 */
static bool depends_on_order(const struct ptx_result *result)
{
    if (result->status == PTX_FAULT || result->status == PTX_DEADLOCK)
        return true; /* blocks behind the one that stopped have run, or not */
    for (size_t i = 0; i < result->hazard_count; i++) {
        const struct ptx_hazard *h = &result->hazards[i];
        if (h->space == PTX_SPACE_GLOBAL && h->kind != PTX_HAZARD_UNINITIALISED)
            return true;
    }
    return false;
}

static bool run_once(struct ptx_result *out, const struct ptx_launch *launch, bool alone,
                     struct snapshot *before, struct err *err)
{
    struct run run;
    *out = (struct ptx_result){.fault_space = PTX_SPACE_NONE};
    if (!open_run(&run, launch, err))
        return false;
    unsigned count = alone ? 1 : pick_threads(&run);
    if (count > 1 && run.checks)
        snapshot_take(before, launch);
    run_blocks(out, &run, count);
    hazard_run_close(&run);
    free(run.map.items);
    return true;
}

bool ptx_run(struct ptx_result *out, const struct ptx_launch *launch, struct err *err)
{
    struct snapshot before = {0};
    bool ok = run_once(out, launch, false, &before, err);
    if (ok && before.launch && depends_on_order(out)) {
        ptx_result_free(out);
        snapshot_restore(&before);
        ok = run_once(out, launch, true, &before, err);
    }
    snapshot_free(&before);
    return ok;
}

void ptx_result_free(struct ptx_result *result)
{
    free(result->hazards);
    free(result->lines);
    free(result->events);
    free(result->touches);
    buf_free(&result->output);
    *result = (struct ptx_result){0};
}
