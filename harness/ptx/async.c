#include "harness/ptx/async.h"

#include "harness/base/buf.h"
#include "harness/ptx/async_queue.h"
#include "harness/ptx/global.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/mem.h"

#include <stdlib.h>
#include <string.h>

struct async_warp *async_open(uint32_t warps)
{
    return mem_zero(warps, sizeof(struct async_warp));
}

void async_close(struct async_warp *warps, uint32_t count)
{
    for (uint32_t i = 0; warps && i < count; i++) {
        free(warps[i].copies);
        free(warps[i].bulks);
        free(warps[i].arrivals);
    }
    free(warps);
}

struct async_warp *async_of(struct async_warp *warps, uint32_t index)
{
    return warps + index;
}

void async_begin(struct async_warp *a)
{
    a->count = a->bulk_count = a->arrival_count = a->finished = a->batch = 0;
    a->mixed = false;
    a->serial = 0;
    memset(a->committed, 0, sizeof a->committed);
    memset(a->bulk_committed, 0, sizeof a->bulk_committed);
}

/* ---- issue */

bool async_check_shared(struct warp *w, const struct op *op, unsigned lane, uint32_t addr,
                        uint32_t bytes, uint32_t align)
{
    if (addr & (align - 1))
        return fault_alignment(w, op, PTX_SPACE_SHARED, lane, addr, align) != NULL;
    if ((uint64_t)addr + bytes > w->block->shared_bytes)
        return fault_bounds(w, op, PTX_SPACE_SHARED, lane, addr, bytes) != NULL;
    return true;
}

uint8_t *async_check_global(struct warp *w, const struct op *op, unsigned lane, uint64_t va,
                            uint32_t bytes, uint32_t align)
{
    if (va & (align - 1)) {
        fault_alignment(w, op, PTX_SPACE_GLOBAL, lane, va, align);
        return NULL;
    }
    uint32_t *hint = &w->worker->site_memory[op->site];
    uint8_t *host = memory_find(&w->worker->run->map, va, bytes, hint);
    if (!host)
        fault_bounds(w, op, PTX_SPACE_GLOBAL, lane, va, bytes);
    return host;
}

static struct copy *new_copy(struct async_warp *a)
{
    if (a->count == a->capacity) {
        a->capacity = a->capacity ? 2 * a->capacity : 8;
        a->copies = mem_grow(a->copies, a->capacity, sizeof *a->copies);
    }
    return &a->copies[a->count];
}

void async_watch_source(struct warp *w, const struct op *op, uint32_t lanes)
{
    struct hazard_block *h = w->block->hazard;
    h->sources_in_flight += lanes;
    h->source_items |= 1ull << (w->worker->site_memory[op->site] & 63);
}

void async_unwatch_source(struct warp *w, uint32_t lanes)
{
    struct hazard_block *h = w->block->hazard;
    h->sources_in_flight -= lanes < h->sources_in_flight ? lanes : h->sources_in_flight;
    if (!h->sources_in_flight)
        h->source_items = 0;
}

static void mark_issued(const struct async_rows *rows, struct warp *w, const struct op *op,
                        const struct copy *copy, const uint64_t src[32])
{
    hazard_note(w->hazard, op);
    if (!copy->row || !rows->issue(w, op, copy->dst[0], copy->size))
        for (uint32_t left = copy->mask; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            shadow_issue(w, op, lane, copy->dst[lane], copy->size);
        }
    async_watch_source(w, op, (uint32_t)__builtin_popcount(copy->mask));
    const struct run *run = w->worker->run;
    uint32_t item = w->worker->site_memory[op->site];
    if (item < run->map.count && !run->map.hazard[item] && !run->map.items[item].written)
        return;
    global_read_copies(w, op, copy->mask, src, copy->size, copy->partial ? copy->bytes : NULL);
}

uint32_t async_epoch(const struct warp *w)
{
    return w->checks ? w->hazard->clock.mine >> KEY_WHO_BITS : 0;
}

uint32_t async_issue_epoch(const struct block *block, uint32_t thread, uint32_t addr)
{
    const struct async_warp *a = block->warps[thread / 32].async;
    unsigned lane = thread & 31;
    for (uint32_t i = a->count; i-- > 0;)
        if (a->copies[i].mask >> lane & 1 && addr - a->copies[i].dst[lane] < a->copies[i].size)
            return a->copies[i].epoch;
    for (uint32_t i = a->bulk_count; i-- > 0;)
        if (!a->bulks[i].is_store && a->bulks[i].lane == lane &&
            addr - a->bulks[i].shared < a->bulks[i].bytes)
            return a->bulks[i].epoch;
    return 0;
}

/* Host addresses of the sources; one look-up is enough when they lie in one allocation. */
static bool find_sources(struct warp *w, const struct op *op, struct copy *copy,
                         const uint64_t src[32], uint32_t align)
{
    uint64_t low = UINT64_MAX, high = 0, crooked = 0;
    for (unsigned lane = 0; lane < 32 && !copy->partial; lane++)
        if (copy->mask >> lane & 1) {
            low = src[lane] < low ? src[lane] : low;
            high = src[lane] > high ? src[lane] : high;
            crooked |= src[lane] & (align - 1);
        }
    uint32_t *hint = &w->worker->site_memory[op->site];
    const uint8_t *base = copy->partial || crooked || high - low > UINT32_MAX
                              ? NULL
                              : memory_find(&w->worker->run->map, low, high - low + align, hint);
    for (uint32_t left = copy->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint32_t bytes = copy->partial ? copy->bytes[lane] : align;
        if (base)
            copy->src[lane] = base + (src[lane] - low);
        else if (!bytes)
            copy->src[lane] = NULL;
        else if (!(copy->src[lane] = async_check_global(w, op, lane, src[lane], bytes, align)))
            return false;
    }
    return true;
}

static bool check_destinations(struct warp *w, const struct op *op, const struct copy *copy)
{
    uint32_t highest = 0, crooked = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (copy->mask >> lane & 1) {
            highest = copy->dst[lane] > highest ? copy->dst[lane] : highest;
            crooked |= copy->dst[lane] & (copy->size - 1);
        }
    if (!crooked && (uint64_t)highest + copy->size <= w->block->shared_bytes)
        return true;
    for (uint32_t left = copy->mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (!async_check_shared(w, op, lane, copy->dst[lane], copy->size, copy->size))
            return false;
    }
    return true;
}

static bool is_row(const uint32_t dst[32], uint32_t size)
{
    uint32_t off = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        off |= dst[lane] - dst[0] - lane * size;
    return !off;
}

bool async_copy_by(const struct async_rows *rows, struct warp *w, const struct op *op,
                   uint32_t mask, const uint32_t dst[32], const uint64_t src[32], uint32_t size,
                   const uint32_t src_bytes[32])
{
    struct async_warp *a = w->async;
    struct copy *copy = new_copy(a);
    copy->op = op;
    copy->mask = mask;
    copy->size = size;
    copy->group = a->committed[__builtin_ctz(mask)];
    copy->mixed = a->mixed;
    copy->batch = a->batch;
    copy->serial = ++a->serial;
    copy->step = timeline_now(w);
    copy->epoch = async_epoch(w);
    copy->partial = false;
    memcpy(copy->dst, dst, sizeof copy->dst);
    memcpy(copy->groups, a->committed, sizeof copy->groups);
    for (unsigned lane = 0; src_bytes && lane < 32; lane++) {
        copy->bytes[lane] = src_bytes[lane] < size ? src_bytes[lane] : size;
        copy->partial |= (mask >> lane & 1) && copy->bytes[lane] != size;
    }
    copy->row = mask == UINT32_MAX && is_row(dst, size);
    if (!check_destinations(w, op, copy) || !find_sources(w, op, copy, src, size))
        return false;
    if (w->counting)
        counters_async(w, op, mask, dst, src, size);
    if (w->checks)
        mark_issued(rows, w, op, copy, src);
    a->count++;
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_ISSUE,
                                       .line = op->line,
                                       .group = copy->batch,
                                       .address = dst[__builtin_ctz(mask)],
                                       .bytes = size * (uint32_t)__builtin_popcount(mask)});
    return true;
}

void async_commit(struct warp *w, const struct op *op, uint32_t mask)
{
    struct async_warp *a = w->async;
    timeline_add(
        w, (struct ptx_event){.kind = PTX_EVENT_COMMIT, .line = op->line, .group = a->batch++});
    if ((mask & w->live) != w->live)
        a->mixed = true;
    for (uint32_t lane = 0; lane < 32; lane++)
        a->committed[lane] += mask >> lane & 1;
}

/* ---- landing */

void async_land(const struct async_rows *rows, struct warp *w, struct copy *copy, uint32_t lanes,
                uint32_t key)
{
    uint8_t *shared = w->block->shared;
    if (copy->row && lanes == UINT32_MAX && !copy->partial && copy->size == 16) {
        for (unsigned lane = 0; lane < 32; lane++)
            memcpy(shared + copy->dst[0] + 16 * lane, copy->src[lane], 16);
    } else {
        for (uint32_t left = lanes; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            uint32_t bytes = copy->partial ? copy->bytes[lane] : copy->size;
            if (bytes)
                memcpy(shared + copy->dst[lane], copy->src[lane], bytes);
            memset(shared + copy->dst[lane] + bytes, 0, copy->size - bytes);
        }
    }
    copy->mask &= ~lanes;
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_LAND,
                                       .line = copy->op->line,
                                       .group = copy->batch,
                                       .address = copy->dst[__builtin_ctz(lanes)],
                                       .bytes = copy->size * (uint32_t)__builtin_popcount(lanes),
                                       .other_step = copy->step});
    if (!w->checks)
        return;
    async_unwatch_source(w, (uint32_t)__builtin_popcount(lanes));
    if (rows && copy->row && lanes == UINT32_MAX && !key) {
        rows->land(w, copy->dst[0], copy->size);
        return;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        shadow_land(&w->block->hazard->shadow, w->id * 32 + lane,
                    key ? key : w->hazard->clock.mine + lane, shadow_site(copy->op),
                    copy->dst[lane], copy->size);
    }
}

void async_drop_landed(struct async_warp *a)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->copies[i].mask) {
            if (kept != i)
                a->copies[kept] = a->copies[i];
            kept++;
        }
    a->count = kept;
}

/* Lanes of mask whose group is among those to wait for. */
static uint32_t due(const struct async_warp *a, const struct copy *copy, uint32_t mask,
                    uint32_t keep)
{
    uint32_t lanes = copy->mask & mask;
    if (keep == UINT32_MAX || !lanes)
        return lanes;
    if (!a->mixed && !copy->mixed) {
        uint32_t committed = a->committed[__builtin_ctz(lanes)];
        return committed >= keep && copy->group < committed - keep ? lanes : 0;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint32_t committed = a->committed[lane];
        if (committed < keep || copy->groups[lane] >= committed - keep)
            lanes &= ~(1u << lane);
    }
    return lanes;
}

void async_wait_by(const struct async_rows *rows, struct warp *w, const struct op *op,
                   uint32_t mask, uint32_t keep)
{
    struct async_warp *a = w->async;
    /* wait_all is a commit and wait_group 0: what is issued after it is another group */
    if (keep == UINT32_MAX && a->count && a->copies[a->count - 1].batch == a->batch)
        async_commit(w, op, mask);
    uint32_t committed = a->committed[__builtin_ctz(mask)];
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_WAIT,
                                       .line = op->line,
                                       .group = committed,
                                       .value = keep == UINT32_MAX ? 0 : keep});
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t lanes = due(a, &a->copies[i], mask, keep);
        if (lanes)
            async_land(rows, w, &a->copies[i], lanes, 0);
    }
    async_drop_landed(a);
    uint32_t limit = keep == UINT32_MAX ? committed : committed >= keep ? committed - keep : 0;
    a->finished = a->finished > limit ? a->finished : limit;
    if (w->counting)
        counters_wait(w, op, committed - a->finished);
}

/* ---- what goes wrong while copies fly */

static void report(struct warp *w, const struct op *op, unsigned lane, struct warp *owner,
                   unsigned owner_lane, const struct op *copy, enum ptx_hazard_kind kind,
                   enum hazard_reason reason, enum ptx_space space, uint64_t address,
                   uint64_t bytes)
{
    struct hazard_finding finding = {
        .kind = kind,
        .reason = reason,
        .line = op ? op->line : copy->line,
        .other_line = op ? copy->line : 0,
        .thread = w->id * 32 + lane,
        .other = op ? owner->id * 32 + owner_lane : NOBODY,
        .other_block = w->block->index,
        .space = space,
        .address = address,
        .bytes = (uint32_t)bytes,
        .element = 4,
    };
    hazard_add(w, &finding);
}

void async_source_written(struct warp *w, const struct op *op, unsigned lane, const uint8_t *host,
                          uint64_t va, uint64_t bytes)
{
    struct block *block = w->block;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *owner = &block->warps[i];
        struct async_warp *a = owner->async;
        for (uint32_t k = 0; k < a->count; k++)
            for (uint32_t left = a->copies[k].mask; left; left &= left - 1) {
                unsigned other = (unsigned)__builtin_ctz(left);
                const uint8_t *src = a->copies[k].src[other];
                uint32_t size =
                    a->copies[k].partial ? a->copies[k].bytes[other] : a->copies[k].size;
                if (src && host < src + size && src < host + bytes)
                    report(w, op, lane, owner, other, a->copies[k].op,
                           PTX_HAZARD_SOURCE_OVERWRITTEN, REASON_PLAIN, PTX_SPACE_GLOBAL, va,
                           bytes);
            }
        for (uint32_t k = 0; k < a->bulk_count; k++) {
            const struct bulk *bulk = &a->bulks[k];
            if (!bulk->is_store && host < bulk->host + bulk->bytes && bulk->host < host + bytes)
                report(w, op, lane, owner, bulk->lane, bulk->op, PTX_HAZARD_SOURCE_OVERWRITTEN,
                       REASON_BULK, PTX_SPACE_GLOBAL, va, bytes);
        }
    }
}

void async_shared_written(struct warp *w, const struct op *op, unsigned lane, uint32_t addr,
                          uint32_t bytes)
{
    struct block *block = w->block;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *owner = &block->warps[i];
        for (uint32_t k = 0; k < owner->async->bulk_count; k++) {
            const struct bulk *bulk = &owner->async->bulks[k];
            if (bulk->is_store && !bulk->has_read && addr < bulk->shared + bulk->bytes &&
                bulk->shared < addr + bytes)
                report(w, op, lane, owner, bulk->lane, bulk->op, PTX_HAZARD_SOURCE_OVERWRITTEN,
                       REASON_BULK, PTX_SPACE_SHARED, addr, bytes);
        }
    }
}

void async_end(struct warp *w)
{
    struct async_warp *a = w->async;
    bool ended = w->checks && w->block->state != BLOCK_STOPPED;
    for (uint32_t i = 0; ended && i < a->count; i++)
        for (uint32_t left = a->copies[i].mask; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctz(left);
            bool open = a->copies[i].groups[lane] == a->committed[lane];
            report(w, NULL, lane, w, lane, a->copies[i].op, PTX_HAZARD_NEVER_WAITED,
                   open ? REASON_UNCOMMITTED : REASON_PLAIN, PTX_SPACE_SHARED,
                   a->copies[i].dst[lane], a->copies[i].size);
        }
    for (uint32_t i = 0; i < a->bulk_count; i++) {
        struct bulk *bulk = &a->bulks[i];
        if (ended && !bulk->has_read)
            report(w, NULL, bulk->lane, w, bulk->lane, bulk->op, PTX_HAZARD_NEVER_WAITED,
                   REASON_BULK, PTX_SPACE_SHARED, bulk->shared, bulk->bytes);
        if (bulk->is_store)
            async_finish_store(w, bulk);
    }
    async_begin(a);
}
