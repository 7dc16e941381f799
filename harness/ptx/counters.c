#include "harness/ptx/counters.h"

#include "harness/base/buf.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one access */

/* Shared memory has 32 banks of 4 bytes; lanes that want the same bytes share them. An access of 8
 * or 16 bytes takes two or four neighbouring banks, and is served in parts of the warp (16 or 8
 * lanes) unless all of it fits better at once. So a *unit* is what one lane takes, a *slot* the
 * banks it can stand in: there are as many slots as lanes in a part. */

struct slots {
    uint8_t head[32], next[32]; /* per slot: its distinct units, as index + 1 into unit[] */
    uint32_t unit[32];
    uint32_t count, most;
};

static void slots_add(struct slots *slots, uint32_t unit, uint32_t slot)
{
    uint32_t length = 1;
    for (uint8_t at = slots->head[slot]; at; at = slots->next[at - 1], length++)
        if (slots->unit[at - 1] == unit)
            return;
    slots->unit[slots->count] = unit;
    slots->next[slots->count] = slots->head[slot];
    slots->head[slot] = (uint8_t)++slots->count;
    slots->most = slots->most > length ? slots->most : length;
}

/* The units that lanes from..to want; shift: log2 of a unit's bytes. */
static void slots_fill(struct slots *slots, uint32_t mask, const uint32_t addr[32], uint32_t shift)
{
    memset(slots->head, 0, sizeof slots->head);
    slots->count = slots->most = 0;
    uint32_t last = UINT32_MAX;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t unit = addr[__builtin_ctz(left)] >> shift;
        if (unit != last)
            slots_add(slots, unit, unit & ((128u >> shift) - 1));
        last = unit;
    }
}

static uint32_t wavefronts(uint32_t mask, const uint32_t addr[32], uint32_t bytes, uint32_t *ideal)
{
    struct slots slots;
    uint32_t shift = bytes <= 4 ? 2 : bytes == 8 ? 3 : 4, part = 128u >> shift, sum = 0;
    slots_fill(&slots, mask, addr, shift);
    *ideal = (slots.count + part - 1) / part;
    if (part == 32 || slots.most == *ideal)
        return slots.most;
    for (uint32_t from = 0; from < 32; from += part) {
        slots_fill(&slots, mask & ((1u << part) - 1) << from, addr, shift);
        sum += slots.most;
    }
    return sum;
}

void counters_shared(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                     uint32_t bytes)
{
    struct site_counters *site = &w->worker->sites[op->site];
    uint32_t ideal;
    site->requests++;
    site->units += wavefronts(mask, addr, bytes, &ideal);
    site->ideal += ideal;
    site->bytes += (uint32_t)__builtin_popcount(mask) * bytes;
}

static uint32_t count_sectors(uint32_t mask, const uint64_t addr[32], uint32_t bytes)
{
    uint64_t seen[32];
    uint32_t count = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint64_t sector = addr[__builtin_ctz(left)] / 32;
        bool known = false;
        for (uint32_t i = count; i-- > 0 && !known;)
            known = seen[i] == sector; /* neighbours come first */
        if (!known)
            seen[count++] = sector;
    }
    (void)bytes; /* aligned to their size, at most 16: never in two sectors */
    return count;
}

void counters_global(struct warp *w, const struct op *op, uint32_t mask, const uint64_t addr[32],
                     uint32_t bytes)
{
    struct site_counters *site = &w->worker->sites[op->site];
    site->requests++;
    site->units += count_sectors(mask, addr, bytes);
    site->bytes += (uint32_t)__builtin_popcount(mask) * bytes;
}

void counters_local(struct warp *w, const struct op *op, uint32_t mask, uint32_t bytes)
{
    struct site_counters *site = &w->worker->sites[op->site];
    site->requests++;
    site->bytes += (uint32_t)__builtin_popcount(mask) * bytes;
}

void counters_async(struct warp *w, const struct op *op, uint32_t mask, const uint32_t dst[32],
                    const uint64_t src[32], uint32_t bytes)
{
    (void)dst;
    struct site_counters *site = &w->worker->sites[op->site];
    site->requests++;
    site->units += count_sectors(mask, src, bytes);
    site->bytes += (uint32_t)__builtin_popcount(mask) * bytes;
}

void counters_wait(struct warp *w, const struct op *op, uint32_t left)
{
    struct site_counters *site = &w->worker->sites[op->site];
    struct ptx_counters *all = &w->worker->counters;
    site->requests++;
    site->most = site->most > left ? site->most : left;
    site->least = !site->least || left + 1 < site->least ? left + 1 : site->least;
    all->waits++;
    all->groups_in_flight[left < 8 ? left : 8]++;
}

/* ---- the sum */

struct sums {
    struct ptx_result *result;
    const struct run *run;
    struct ptx_line_counters *lines; /* by first id of the line's place */
};

static struct ptx_line_counters *line_of(struct sums *sums, uint32_t line)
{
    const struct hazard_run *hazard = sums->run->hazard;
    uint32_t id = line < hazard->line_count ? hazard->student_line[line] : 0;
    sums->lines[id].line = id;
    return &sums->lines[id];
}

static const char *const patterns[] = {
#define F(pattern, operands, handler, kind, rule, value) pattern,
#include "harness/ptx/ops.def"
#undef F
};

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Floating-point operations of one lane; matrix operations count in matrix_flops. */
static uint64_t lane_flops(const struct op *op)
{
    if (op->kind != PTX_KIND_FP32 && op->kind != PTX_KIND_FP64 && op->kind != PTX_KIND_HALF)
        return 0;
    const char *name = patterns[op->form];
    uint64_t width = strstr(name, "f16x2") ? 2 : 1;
    if (starts(name, "fma.") || starts(name, "mad."))
        return 2 * width;
    static const char *const one[] = {"add.", "sub.", "mul.", "div.", "min.", "max.",  "sqrt.",
                                      "rcp.", "ex2.", "lg2.", "sin.", "cos.", "tanh.", "rsqrt."};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (starts(name, one[i]))
            return width;
    return 0;
}

static uint64_t matrix_flops(const struct op *op)
{
    unsigned m, n, k;
    const char *name = patterns[op->form], *shape = strstr(name, "mma");
    if (op->kind != PTX_KIND_TENSOR || !shape || starts(name, "wmma.load") ||
        starts(name, "wmma.store"))
        return 0;
    for (shape = strstr(shape, ".m"); shape; shape = strstr(shape + 1, ".m"))
        if (sscanf(shape, ".m%un%uk%u", &m, &n, &k) == 3)
            return 2ull * m * n * k;
    return 0;
}

static void add_access(struct ptx_counters *all, struct ptx_line_counters *line,
                       const struct op *op, const struct site_counters *site)
{
    bool stores = op->kind == PTX_KIND_STORE;
    if (op->space == PTX_SPACE_SHARED && op->kind != PTX_KIND_ASYNC) {
        all->shared_requests += site->requests;
        all->shared_wavefronts += site->units;
        all->shared_ideal_wavefronts += site->ideal;
        line->shared_requests += site->requests;
        line->shared_wavefronts += site->units;
        line->shared_ideal_wavefronts += site->ideal;
    } else if (op->space == PTX_SPACE_LOCAL) {
        all->local_requests += site->requests;
    } else if (stores) {
        all->global_store_requests += site->requests;
        all->global_store_sectors += site->units;
        all->global_store_bytes += site->bytes;
        line->global_store_requests += site->requests;
        line->global_store_sectors += site->units;
    } else if (site->units) {
        all->global_load_requests += site->requests;
        all->global_load_sectors += site->units;
        *(op->kind == PTX_KIND_ASYNC ? &all->async_bytes : &all->global_load_bytes) += site->bytes;
        line->global_load_requests += site->requests;
        line->global_load_sectors += site->units;
    } else {
        line->groups_most = line->groups_most > site->most ? line->groups_most : site->most;
        if (site->least && (!line->waits || site->least - 1 < line->groups_least))
            line->groups_least = site->least - 1;
        line->waits += site->least ? site->requests : 0;
    }
}

static void add_site(struct site_counters *sum, const struct site_counters *part)
{
    sum->requests += part->requests;
    sum->units += part->units;
    sum->ideal += part->ideal;
    sum->bytes += part->bytes;
    sum->most = sum->most > part->most ? sum->most : part->most;
    if (part->least && (!sum->least || part->least < sum->least))
        sum->least = part->least;
}

static void add_op(struct sums *sums, const struct op *op, uint64_t runs, uint64_t lanes,
                   const struct worker *workers, size_t count)
{
    struct ptx_counters *all = &sums->result->counters;
    struct ptx_line_counters *line = line_of(sums, op->line);
    all->by_kind[op->kind] += lanes;
    all->flops += lane_flops(op) * lanes + matrix_flops(op) * runs;
    line->warp_instructions += runs;
    line->thread_instructions += lanes;
    if (!op->site)
        return;
    struct site_counters site = {0};
    for (size_t i = 0; i < count; i++)
        add_site(&site, &workers[i].sites[op->site]);
    if (site.requests)
        add_access(all, line, op, &site);
}

static void add_block(struct sums *sums, const struct code_block *block,
                      const struct worker *workers, size_t count)
{
    struct ptx_counters *all = &sums->result->counters;
    uint64_t runs = 0, lanes = 0, divergent = 0;
    for (size_t i = 0; i < count; i++) {
        runs += workers[i].block_runs[block->id];
        lanes += workers[i].block_lanes[block->id];
        divergent += workers[i].divergent[block->id];
    }
    if (!runs)
        return;
    const struct op *op = block->first;
    for (uint32_t i = 0; i < block->count; i++)
        add_op(sums, ++op, runs, lanes, workers, count);
    all->warp_instructions += runs * block->count;
    all->thread_instructions += lanes * block->count;
    if (block->count && op->target && op->guard) {
        struct ptx_line_counters *line = line_of(sums, op->line);
        all->branches += runs;
        all->divergent_branches += divergent;
        line->branches += runs;
        line->divergent_branches += divergent;
    }
}

static void add_worker(struct ptx_counters *all, const struct ptx_counters *part)
{
    all->async_bytes += part->async_bytes;
    all->barriers += part->barriers;
    all->waits += part->waits;
    for (size_t i = 0; i < 9; i++)
        all->groups_in_flight[i] += part->groups_in_flight[i];
    all->blocks += part->blocks;
    all->warps += part->warps;
}

static void keep_lines(struct sums *sums, size_t line_count)
{
    struct ptx_result *result = sums->result;
    size_t kept = 0;
    for (size_t i = 0; i < line_count; i++)
        if (sums->lines[i].warp_instructions)
            sums->lines[kept++] = sums->lines[i];
    result->lines = sums->lines;
    result->line_count = kept;
}

void counters_collect(struct ptx_result *result, const struct run *run, struct worker *workers,
                      size_t count)
{
    const struct module *module = run->func->module->internal;
    struct sums sums = {result, run, NULL};
    size_t lines = run->hazard->line_count;
    sums.lines = mem_zero(lines + 1, sizeof *sums.lines);
    memset(&result->counters, 0, sizeof result->counters);
    for (size_t i = 0; i < count; i++)
        add_worker(&result->counters, &workers[i].counters);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct func *func = module->decoded[f];
        for (size_t b = 0; func && b < func->block_count; b++)
            add_block(&sums, &func->blocks[b], workers, count);
    }
    keep_lines(&sums, lines);
}
