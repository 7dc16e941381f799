#include "harness/ptx/async_queue.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"
#include "harness/ptx/global.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/mem.h"
#include "harness/ptx/sync.h"

#include <string.h>

/* ---- copies that an mbarrier reports */

static void add_arrival(struct warp *w, const struct op *op, uint32_t lanes, uint32_t mbarrier)
{
    struct async_warp *a = w->async;
    if (a->arrival_count == a->arrival_capacity) {
        a->arrival_capacity = a->arrival_capacity ? 2 * a->arrival_capacity : 32;
        a->arrivals = mem_grow(a->arrivals, a->arrival_capacity, sizeof *a->arrivals);
    }
    a->arrivals[a->arrival_count++] = (struct arrival){op, lanes, mbarrier, a->serial};
    w->block->hazard->landings++;
}

bool async_mbarrier_arrive(struct warp *w, const struct op *op, uint32_t mask,
                           const uint32_t addr[32], bool noinc)
{
    for (uint32_t left = mask; left;) {
        unsigned first = (unsigned)__builtin_ctz(left);
        uint32_t lanes = 0;
        if (!async_check_shared(w, op, first, addr[first], 8, 8))
            return false;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            if (addr[__builtin_ctz(rest)] == addr[first])
                lanes |= rest & -rest;
        if (!noinc)
            sync_mbarrier_add_pending(w, addr[first], (uint32_t)__builtin_popcount(lanes));
        add_arrival(w, op, lanes, addr[first]);
        left &= ~lanes;
    }
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_COMMIT,
                                       .line = op->line,
                                       .group = w->async->batch++,
                                       .address = addr[__builtin_ctz(mask)],
                                       .bytes = 8});
    return true;
}

static uint32_t engine_key(struct warp *w, uint32_t mbarrier)
{
    uint32_t *vector = w->checks ? sync_mbarrier_vector(w, mbarrier) : NULL;
    return vector ? clock_async_key(&w->block->hazard->clock, vector) : 0;
}

static bool land_arrivals(struct warp *w, uint32_t mbarrier, uint32_t *key)
{
    struct async_warp *a = w->async;
    uint32_t kept = 0;
    bool any = false;
    for (uint32_t i = 0; i < a->arrival_count; i++) {
        struct arrival arrival = a->arrivals[i];
        if (arrival.mbarrier != mbarrier) {
            a->arrivals[kept++] = arrival;
            continue;
        }
        any = true;
        if (!*key)
            *key = engine_key(w, mbarrier);
        w->block->hazard->landings--;
        for (uint32_t k = 0; k < a->count; k++) {
            uint32_t lanes = a->copies[k].mask & arrival.lanes;
            if (a->copies[k].serial <= arrival.serial && lanes)
                async_land(NULL, w, &a->copies[k], lanes, *key);
        }
        sync_mbarrier_land(w, arrival.op, (unsigned)__builtin_ctz(arrival.lanes), mbarrier,
                           (uint32_t)__builtin_popcount(arrival.lanes), 0);
    }
    a->arrival_count = kept;
    async_drop_landed(a);
    return any;
}

static void land_bulk_load(struct warp *w, const struct bulk *bulk, uint32_t key)
{
    memcpy(w->block->shared + bulk->shared, bulk->host, bulk->bytes);
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_LAND,
                                       .line = bulk->op->line,
                                       .group = bulk->batch,
                                       .address = bulk->shared,
                                       .bytes = bulk->bytes,
                                       .other_step = bulk->step});
    if (w->checks) {
        async_unwatch_source(w, 1);
        shadow_land(&w->block->hazard->shadow, w->id * 32 + bulk->lane,
                    key ? key : w->hazard->clock.mine + bulk->lane, shadow_site(bulk->op),
                    bulk->shared, bulk->bytes);
    }
}

static bool land_bulks(struct warp *w, uint32_t mbarrier, uint32_t *key)
{
    struct async_warp *a = w->async;
    uint32_t kept = 0;
    bool any = false;
    for (uint32_t i = 0; i < a->bulk_count; i++) {
        struct bulk bulk = a->bulks[i];
        if (bulk.is_store || bulk.mbarrier != mbarrier) {
            a->bulks[kept++] = bulk;
            continue;
        }
        any = true;
        if (!*key)
            *key = engine_key(w, mbarrier);
        w->block->hazard->landings--;
        land_bulk_load(w, &bulk, *key);
        sync_mbarrier_land(w, bulk.op, bulk.lane, mbarrier, 0, bulk.bytes);
    }
    a->bulk_count = kept;
    return any;
}

bool async_land_for(struct warp *w, uint32_t mbarrier)
{
    struct block *block = w->block;
    uint32_t key = 0;
    bool any = false;
    for (uint32_t i = 0; i < block->warp_count && block->hazard->landings; i++) {
        any |= land_arrivals(&block->warps[i], mbarrier, &key);
        any |= land_bulks(&block->warps[i], mbarrier, &key);
    }
    return any;
}

/* ---- bulk copies */

static bool bulk_size(struct warp *w, const struct op *op, unsigned lane, uint32_t bytes)
{
    if (bytes && !(bytes & 15))
        return true;
    stop_block(w, op, PTX_FAULT, lane,
               _("cp.async.bulk copies whole 16-byte pieces; %u bytes are not a multiple of 16"),
               bytes);
    return false;
}

static struct bulk *new_bulk(struct async_warp *a)
{
    if (a->bulk_count == a->bulk_capacity) {
        a->bulk_capacity = a->bulk_capacity ? 2 * a->bulk_capacity : 8;
        a->bulks = mem_grow(a->bulks, a->bulk_capacity, sizeof *a->bulks);
    }
    return &a->bulks[a->bulk_count++];
}

bool async_bulk_load(struct warp *w, const struct op *op, uint32_t mask, const uint32_t dst[32],
                     const uint64_t src[32], const uint32_t bytes[32], const uint32_t mbarrier[32])
{
    w->worker->hazard->bulk_sites[op->site] = 1;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (!bulk_size(w, op, lane, bytes[lane]) ||
            !async_check_shared(w, op, lane, dst[lane], bytes[lane], 16) ||
            !async_check_shared(w, op, lane, mbarrier[lane], 8, 8))
            return false;
        uint8_t *host = async_check_global(w, op, lane, src[lane], bytes[lane], 16);
        if (!host)
            return false;
        *new_bulk(w->async) = (struct bulk){.op = op,
                                            .lane = lane,
                                            .shared = dst[lane],
                                            .bytes = bytes[lane],
                                            .mbarrier = mbarrier[lane],
                                            .host = host,
                                            .batch = w->async->batch,
                                            .epoch = async_epoch(w),
                                            .step = timeline_now(w)};
        w->block->hazard->landings++;
        w->worker->counters.async_bytes += bytes[lane];
        timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_ISSUE,
                                           .line = op->line,
                                           .group = w->async->batch++,
                                           .address = dst[lane],
                                           .bytes = bytes[lane]});
        if (!w->checks)
            continue;
        hazard_note(w->hazard, op);
        shadow_issue(w, op, lane, dst[lane], bytes[lane]);
        async_watch_source(w, op, 1);
        global_read_bytes(w, op, lane, src[lane], bytes[lane]);
    }
    return true;
}

bool async_bulk_store(struct warp *w, const struct op *op, uint32_t mask, const uint64_t dst[32],
                      const uint32_t src[32], const uint32_t bytes[32])
{
    w->worker->hazard->bulk_sites[op->site] = 1;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        if (!bulk_size(w, op, lane, bytes[lane]) ||
            !async_check_shared(w, op, lane, src[lane], bytes[lane], 16))
            return false;
        uint8_t *host = async_check_global(w, op, lane, dst[lane], bytes[lane], 16);
        if (!host)
            return false;
        const struct run *run = w->worker->run;
        if (run->map.items[w->worker->site_memory[op->site]].read_only) {
            fault_read_only(w, op, lane, dst[lane]);
            return false;
        }
        *new_bulk(w->async) = (struct bulk){.op = op,
                                            .lane = lane,
                                            .is_store = true,
                                            .shared = src[lane],
                                            .bytes = bytes[lane],
                                            .host = host,
                                            .batch = w->async->batch,
                                            .group = w->async->bulk_committed[lane],
                                            .step = timeline_now(w)};
        w->worker->counters.async_bytes += bytes[lane];
        timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_ISSUE,
                                           .line = op->line,
                                           .group = w->async->batch++,
                                           .address = src[lane],
                                           .bytes = bytes[lane]});
        if (!w->checks)
            continue;
        hazard_note(w->hazard, op);
        shadow_engine_read(w, op, lane, src[lane], bytes[lane]);
        w->block->hazard->sources_in_shared++;
        global_write_bytes(w, op, lane, dst[lane], bytes[lane]);
    }
    return true;
}

void async_bulk_commit(struct warp *w, const struct op *op, uint32_t mask)
{
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_COMMIT, .line = op->line});
    for (uint32_t lane = 0; lane < 32; lane++)
        w->async->bulk_committed[lane] += mask >> lane & 1;
}

void async_finish_store(struct warp *w, struct bulk *bulk)
{
    if (!bulk->has_read) {
        memcpy(bulk->host, w->block->shared + bulk->shared, bulk->bytes);
        timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_LAND,
                                           .line = bulk->op->line,
                                           .group = bulk->batch,
                                           .address = bulk->shared,
                                           .bytes = bulk->bytes,
                                           .other_step = bulk->step});
        if (w->checks && w->block->hazard->sources_in_shared)
            w->block->hazard->sources_in_shared--;
    }
    bulk->has_read = true;
}

void async_bulk_wait(struct warp *w, const struct op *op, uint32_t mask, uint32_t keep, bool read)
{
    struct async_warp *a = w->async;
    uint32_t kept = 0;
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_WAIT, .line = op->line, .value = keep});
    for (uint32_t i = 0; i < a->bulk_count; i++) {
        struct bulk bulk = a->bulks[i];
        uint32_t committed = a->bulk_committed[bulk.lane];
        bool is_due = bulk.is_store && mask >> bulk.lane & 1 && committed >= keep &&
                      bulk.group < committed - keep;
        if (is_due)
            async_finish_store(w, &bulk);
        if (!is_due || read)
            a->bulks[kept++] = bulk;
    }
    a->bulk_count = kept;
}
