#include "harness/ptx/hazard.h"

#include "harness/base/buf.h"
#include "harness/ptx/async.h"
#include "harness/ptx/global.h"
#include "harness/ptx/locks.h"
#include "harness/ptx/module.h"
#include "harness/ptx/observed.h"
#include "harness/ptx/sync.h"

#include <stdlib.h>
#include <string.h>

/* ---- findings */

static uint32_t group_line(const struct hazard_run *run, uint32_t line)
{
    return run->student_line && line < run->line_count ? run->student_line[line] : line;
}

static bool same_group(const struct hazard_run *run, const struct hazard_finding *a,
                       const struct hazard_finding *b)
{
    return a->kind == b->kind && group_line(run, a->line) == group_line(run, b->line) &&
           group_line(run, a->other_line) == group_line(run, b->other_line) &&
           (a->reason == REASON_UNNAMED) == (b->reason == REASON_UNNAMED);
}

void hazard_add(struct warp *w, const struct hazard_finding *finding)
{
    struct hazard_worker *worker = w->worker->hazard;
    const struct hazard_run *run = w->worker->run->hazard;
    uint32_t index = worker->last;
    if (index >= worker->count || !same_group(run, &worker->findings[index], finding))
        for (index = 0; index < worker->count; index++)
            if (same_group(run, &worker->findings[index], finding))
                break;
    if (index == worker->count) {
        if (worker->count == HAZARD_FINDINGS) {
            worker->cut = true;
            return;
        }
        if (!worker->findings)
            worker->findings = mem_zero(HAZARD_FINDINGS, sizeof *worker->findings);
        worker->findings[worker->count] = *finding;
        worker->findings[worker->count].block = w->block->index;
        worker->findings[worker->count++].count = 0;
        timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_HAZARD,
                                           .line = finding->line,
                                           .value = index,
                                           .address = (uint32_t)finding->address,
                                           .bytes = finding->bytes});
    }
    struct hazard_finding *group = &worker->findings[index];
    if (group->reason == REASON_SAME_WARP && finding->reason != REASON_SAME_WARP &&
        group->block == w->block->index) {
        uint64_t count = group->count; /* between warps it is easier to believe */
        *group = *finding;
        group->block = w->block->index;
        group->count = count;
    }
    group->count++;
    worker->last = index;
}

void hazard_add_unset(struct warp *w, const struct hazard_finding *finding)
{
    enum { MOST = 1 << 16 };
    struct hazard_block *h = w->block->hazard;
    if (h->unset_count == MOST) {
        hazard_add(w, finding);
        return;
    }
    if (h->unset_count == h->unset_capacity) {
        h->unset_capacity = h->unset_capacity ? 2 * h->unset_capacity : 64;
        h->unset = mem_grow(h->unset, h->unset_capacity, sizeof *h->unset);
    }
    h->unset[h->unset_count++] = *finding;
}

static void report_unset(struct block *block)
{
    struct hazard_block *h = block->hazard;
    for (uint32_t i = 0; i < h->unset_count; i++)
        if (!h->raced[h->unset[i].address / 4])
            hazard_add(&block->warps[h->unset[i].thread / 32], &h->unset[i]);
    h->unset_count = 0;
}

const struct op *hazard_site_op(const struct warp *w, uint32_t site)
{
    const struct hazard_run *run = w->worker->run->hazard;
    return site < run->site_count ? run->sites[site] : NULL;
}

uint32_t hazard_site_line(const struct warp *w, uint32_t site)
{
    const struct op *op = hazard_site_op(w, site);
    return op ? op->line : 0;
}

bool hazard_is_strong(const struct op *op)
{
    return op->sem != SEM_WEAK || op->kind == PTX_KIND_ATOMIC;
}

bool hazard_acquires(const struct op *op)
{
    return op->sem == SEM_ACQUIRE || op->sem == SEM_ACQ_REL || op->sem == SEM_SC;
}

/* ---- order */

enum { FENCE_PROXY_ASYNC = 1 }; /* op->mode, see ops.def */

void hazard_warp_sync(struct warp *w, const struct op *op, uint32_t members)
{
    (void)op;
    if (!w->checks)
        return;
    w->hazard->own_interval = w->hazard->accesses + 1;
    observed_take(w, members & w->live);
    observed_take_blocks(w);
    clock_warp_sync(&w->block->hazard->clock, w->id, members & w->live, w->live);
}

/* Shuffles and votes make lanes meet, but order no memory: that is __syncwarp's. */
void hazard_warp_collective(struct warp *w, const struct op *op, uint32_t members)
{
    (void)w;
    (void)op;
    (void)members;
}

void hazard_fence(struct warp *w, const struct op *op, uint32_t mask)
{
    if (!w->checks)
        return;
    struct hazard_block *block = w->block->hazard;
    if (op->mode == FENCE_PROXY_ASYNC) {
        for (uint32_t left = mask; left; left &= left - 1) {
            uint32_t thread = w->id * 32 + (uint32_t)__builtin_ctz(left);
            block->proxy_own[thread] = w->hazard->clock.mine >> KEY_WHO_BITS;
            block->proxy_all[thread] = block->clock.now;
        }
        clock_advance(&block->clock, w->id);
        return;
    }
    observed_take(w, mask);
    clock_fence(&block->clock, w->id, mask);
    if (op->scope < SCOPE_GPU)
        return;
    observed_take_blocks(w);
    global_fence(w);
}

void hazard_strong(struct warp *w, const struct op *op, unsigned lane, uint64_t address, bool reads,
                   bool writes)
{
    struct hazard_block *block = w->block->hazard;
    if (!w->hazard->precise)
        return;
    if (reads) {
        const uint32_t *vector = locks_find(block->locks, address, false);
        if (vector && hazard_acquires(op))
            clock_acquire(&block->clock, w->id, 1u << lane, w->live, vector);
        else if (vector)
            observed_add(w, lane, vector);
    }
    if (!writes)
        return;
    if (op->sem == SEM_RELEASE || op->sem == SEM_ACQ_REL || op->sem == SEM_SC)
        clock_fence(&block->clock, w->id, 1u << lane);
    if (w->hazard->clock.fenced[lane])
        clock_release_fenced(&block->clock, w->id, 1u << lane,
                             locks_find(block->locks, address, true));
}

void hazard_absent_lane(struct warp *w, const struct op *op, uint32_t members, uint32_t absent,
                        uint32_t outside)
{
    uint32_t first = absent ? absent : outside;
    if (!w->checks || !first)
        return;
    uint32_t gone = absent & ~w->live;
    struct hazard_finding finding = {
        .kind = PTX_HAZARD_ABSENT_LANE,
        .reason = !absent          ? REASON_OUTSIDE
                  : gone == absent ? REASON_EXITED
                                   : REASON_ABSENT,
        .line = op->line,
        .thread = w->id * 32 + (uint32_t)__builtin_ctz(w->mask ? w->mask : first),
        .other = w->id * 32 + (uint32_t)__builtin_ctz(first),
        .other_block = w->block->index,
        .space = PTX_SPACE_NONE,
        .note = {members, absent, outside, 0},
    };
    hazard_add(w, &finding);
}

void hazard_unnamed_source(struct warp *w, const struct op *op, uint32_t members, uint32_t readers,
                           uint32_t sources)
{
    if (!w->checks)
        return;
    struct hazard_finding finding = {
        .kind = PTX_HAZARD_ABSENT_LANE,
        .reason = REASON_UNNAMED,
        .line = op->line,
        .thread = w->id * 32 + (uint32_t)__builtin_ctz(readers),
        .other = w->id * 32 + (uint32_t)__builtin_ctz(sources),
        .other_block = w->block->index,
        .space = PTX_SPACE_NONE,
        .note = {members, sources, 0, 0},
    };
    hazard_add(w, &finding);
}

/* ---- life cycle */

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static bool is_int(const struct operand *operand, uint32_t value)
{
    return operand->kind == OPERAND_INT && (uint32_t)operand->value == value;
}

/* Does this instruction order anything but a whole block or a whole warp? */
static bool orders_parts(const struct inst *inst)
{
    const char *name = inst->opcode;
    if (starts(name, "mbarrier.") || starts(name, "cp.async.bulk") ||
        starts(name, "cp.async.mbarrier") || starts(name, "membar") || starts(name, "fence") ||
        strstr(name, ".acquire") || strstr(name, ".release") || strstr(name, ".acq_rel"))
        return true;
    if (starts(name, "bar.warp.sync"))
        return inst->operand_count < 1 || !is_int(&inst->operands[0], UINT32_MAX);
    if (!starts(name, "bar.") && !starts(name, "barrier."))
        return false;
    if (strstr(name, ".arrive"))
        return true;
    bool reduces = strstr(name, ".red.");
    uint32_t at = reduces ? 1 : 0, plain = reduces ? 3 : 1;
    return inst->operand_count != plain || !is_int(&inst->operands[at], 0);
}

static bool needs_precision(const struct run *run)
{
    const struct module *module = run->func->module->internal;
    for (const struct function *f = module->functions; f; f = f->next) {
        if (f->is_entry && strcmp(f->name, run->func->name))
            continue;
        for (uint32_t i = 0; i < f->inst_count; i++)
            if (orders_parts(&f->insts[i]))
                return true;
    }
    return false;
}

static void collect_sites(struct hazard_run *hazard, const struct module *module)
{
    hazard->site_count = module->site_count + 1;
    hazard->sites = mem_zero(hazard->site_count, sizeof *hazard->sites);
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct func *func = module->decoded ? module->decoded[i] : NULL;
        for (size_t k = 0; func && k < func->op_count; k++)
            if (func->ops[k].site && func->ops[k].site < hazard->site_count)
                hazard->sites[func->ops[k].site] = &func->ops[k];
    }
}

static bool is_write(const struct op *op)
{
    return op->kind == PTX_KIND_STORE || op->kind == PTX_KIND_ATOMIC || op->kind == PTX_KIND_ASYNC;
}

/* Unrolling makes many instructions of one place in the source; here they find each other. */
static void link_twins(struct hazard_run *hazard)
{
    hazard->next_twin = mem_zero(hazard->site_count + 1, sizeof *hazard->next_twin);
    uint32_t *last = mem_zero(2 * hazard->line_count + 2, sizeof *last);
    for (uint32_t site = 0; site < hazard->site_count; site++) {
        const struct op *op = hazard->sites[site];
        hazard->next_twin[site] = site;
        if (!op || op->line >= hazard->line_count)
            continue;
        uint32_t *at = &last[2 * hazard->student_line[op->line] + is_write(op)];
        if (*at) {
            hazard->next_twin[site] = hazard->next_twin[*at];
            hazard->next_twin[*at] = site;
        }
        *at = site;
    }
    free(last);
}

/* The frame of a line in the kernel's own file: the innermost one in the file of the outermost. */
uint32_t hazard_student_frame(const struct ptx_module *module, uint32_t id)
{
    uint32_t root = id;
    for (int depth = 0; module->lines[root].inlined_at && depth < 64; depth++)
        root = module->lines[root].inlined_at;
    const char *file = module->lines[root].file;
    for (int depth = 0; depth < 64; depth++) {
        if (!strcmp(module->lines[id].file, file) || !module->lines[id].inlined_at)
            return id;
        id = module->lines[id].inlined_at;
    }
    return root;
}

/* Same place: the same frames in the student's file, from the innermost one outwards. */
static bool same_place(const struct ptx_module *module, uint32_t a, uint32_t b)
{
    for (int depth = 0; depth < 64; depth++) {
        if (!a || !b)
            return a == b;
        const struct ptx_line *x = &module->lines[a], *y = &module->lines[b];
        if (x->line != y->line || strcmp(x->file, y->file) != 0)
            return false;
        a = x->inlined_at;
        b = y->inlined_at;
        a = a ? hazard_student_frame(module, a) : 0;
        b = b ? hazard_student_frame(module, b) : 0;
    }
    return true;
}

static void collect_lines(struct hazard_run *hazard, const struct ptx_module *module)
{
    hazard->line_count = module->line_count;
    hazard->student_line = mem_zero(module->line_count + 1, sizeof *hazard->student_line);
    size_t size = 64;
    while (size < 2 * module->line_count)
        size *= 2;
    uint32_t *table = mem_zero(size, sizeof *table); /* id + 1 of the first line of a place */
    for (uint32_t id = 0; id < module->line_count; id++) {
        uint32_t frame = hazard_student_frame(module, id);
        size_t at = (module->lines[frame].line * 2654435761u) & (size - 1);
        while (table[at] && !same_place(module, frame, hazard_student_frame(module, table[at] - 1)))
            at = (at + 1) & (size - 1);
        if (!table[at])
            table[at] = id + 1;
        hazard->student_line[id] = table[at] - 1;
    }
    free(table);
}

bool hazard_run_open(struct run *run, struct err *err)
{
    (void)err;
    struct hazard_run *hazard = mem_zero(1, sizeof *hazard);
    run->hazard = hazard;
    const struct ptx_module *module = run->func->module;
    collect_sites(hazard, module->internal);
    collect_lines(hazard, module);
    link_twins(hazard);
    hazard->precise = run->checks && needs_precision(run);
    global_run_open(run);
    return true;
}

void hazard_run_close(struct run *run)
{
    if (!run->hazard)
        return;
    global_run_close(run);
    free(run->hazard->sites);
    free(run->hazard->student_line);
    free(run->hazard->next_twin);
    free(run->hazard);
    run->hazard = NULL;
}

static void forget(void *owner)
{
    struct worker *worker = owner;
    shadow_forget(&worker->hazard->block.shadow);
    global_forget(&worker->block);
}

void hazard_worker_open(struct worker *worker)
{
    struct hazard_worker *hazard = mem_zero(1, sizeof *hazard);
    worker->hazard = hazard;
    hazard->block.clock.forget = forget;
    hazard->block.clock.owner = worker;
    for (int i = 0; i < 32; i++)
        hazard->block.clock.warps[i] = &hazard->block.warps[i].clock;
    for (uint32_t i = 0; worker->run->checks && i < 32; i++)
        hazard->block.warps[i].seen =
            mem_zero(worker->run->hazard->site_count + 1, sizeof(uint32_t));
    hazard->bulk_sites = mem_zero(worker->run->hazard->site_count + 1, 1);
    hazard->async = async_open(32);
    hazard->sync = sync_open();
    hazard->block.locks = locks_open(1);
    global_worker_open(worker);
}

void hazard_worker_close(struct worker *worker)
{
    struct hazard_worker *hazard = worker->hazard;
    if (!hazard)
        return;
    shadow_free(&hazard->block.shadow);
    clock_free(&hazard->block.clock);
    locks_close(hazard->block.locks);
    for (int i = 0; i < 32; i++) {
        free(hazard->block.warps[i].local_set);
        free(hazard->block.warps[i].seen);
    }
    free(hazard->block.raced);
    free(hazard->block.unset);
    async_close(hazard->async, 32);
    sync_close(hazard->sync);
    free(hazard->bulk_sites);
    free(hazard->global_known);
    free(hazard->global_observed);
    free(hazard->block.observed);
    free(hazard->timeline.events);
    free(hazard->findings);
    free(hazard);
    worker->hazard = NULL;
}

static void forget_races(struct hazard_block *h)
{
    h->unset_count = 0;
    if (h->raced_words < h->shadow.words + 1) {
        free(h->raced);
        h->raced_words = h->shadow.words + 1;
        h->raced = mem_zero(h->raced_words, 1);
    } else {
        memset(h->raced, 0, h->raced_words);
    }
}

void hazard_block_begin(struct block *block)
{
    struct worker *worker = block->worker;
    struct hazard_worker *hazard = worker->hazard;
    struct hazard_block *h = &hazard->block;
    block->hazard = h;
    block->sync = hazard->sync;
    sync_begin(hazard->sync, block);
    timeline_begin(block);
    h->landings = h->sources_in_flight = h->sources_in_shared = 0;
    h->source_items = 0;
    if (worker->run->checks) {
        shadow_begin(&h->shadow, block->shared_bytes, worker->run->hazard->precise);
        clock_begin(&h->clock, block->thread_count);
        forget_races(h);
        locks_clear(h->locks, clock_stride(&h->clock));
        if (worker->run->hazard->precise) {
            memset(h->proxy_own, 0, sizeof h->proxy_own);
            memset(h->proxy_all, 0, sizeof h->proxy_all);
        }
        global_block_begin(block);
        observed_begin(block);
    }
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct hazard_warp *warp = &h->warps[i];
        block->warps[i].hazard = warp;
        block->warps[i].async = async_of(hazard->async, i);
        async_begin(block->warps[i].async);
        warp->precise = worker->run->hazard->precise;
        if (warp->accesses > UINT32_MAX / 2 && warp->seen) {
            memset(warp->seen, 0, worker->run->hazard->site_count * sizeof *warp->seen);
            warp->accesses = 0;
        }
        hazard_new_interval(warp);
        warp->write_key = h->shadow.write_key;
        warp->read_key = h->shadow.read_key;
        warp->write_site = h->shadow.write_site;
        warp->read_site = h->shadow.read_site;
        if (warp->local_words)
            memset(warp->local_set, 0, (size_t)warp->local_words * 32);
    }
}

void hazard_block_end(struct block *block)
{
    if (block->worker->run->checks)
        report_unset(block);
    for (uint32_t i = 0; i < block->warp_count; i++)
        async_end(&block->warps[i]);
}

void hazard_warp_exit(struct warp *w, const struct op *op, uint32_t mask)
{
    (void)op;
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_EXIT, .value = mask});
}
