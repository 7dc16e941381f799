#include "harness/ptx/mbarrier.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"
#include "harness/ptx/async.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/sync.h"

#include <stdlib.h>
#include <string.h>

/* A phase ends when no arrival and no byte is missing. Copies that report to an mbarrier land when
 * somebody asks whether its phase is over: that is as late as the program can tell. */

struct mbarrier {
    uint32_t addr;
    bool live;
    uint32_t expected, pending; /* of this phase */
    uint32_t phase;
    int64_t tx;                     /* bytes expected minus bytes arrived */
    uint32_t init_key;              /* who made it, when */
    uint32_t line;                  /* of mbarrier.init */
    uint64_t latest;                /* timeline: when the last arrival of this phase came, so far */
    uint64_t over;                  /* timeline: when the last phase ended */
    uint32_t *arriving, *published; /* vectors: this phase's arrivals, all earlier phases' */
};

struct mbarriers {
    struct mbarrier *items;
    uint32_t count, capacity;
    uint32_t stride;
    struct block *block;
    struct warp *asker; /* of the last test that failed; NULL when there was progress since */
    const struct op *asker_op;
    unsigned asker_lane;
    uint32_t asked;
};

struct mbarriers *mbarriers_open(void)
{
    return mem_zero(1, sizeof(struct mbarriers));
}

void mbarriers_close(struct mbarriers *all)
{
    if (!all)
        return;
    for (uint32_t i = 0; i < all->capacity; i++) {
        free(all->items[i].arriving);
        free(all->items[i].published);
    }
    free(all->items);
    free(all);
}

void mbarriers_begin(struct mbarriers *all, struct block *block)
{
    all->count = 0;
    all->asker = NULL;
    all->block = block;
}

static struct mbarrier *find(struct mbarriers *all, uint32_t addr)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].addr == addr)
            return &all->items[i];
    return NULL;
}

static struct mbarrier *make(struct mbarriers *all, uint32_t addr)
{
    struct mbarrier *m = find(all, addr);
    if (!m) {
        if (all->count == all->capacity) {
            uint32_t old = all->capacity;
            all->capacity = old ? 2 * old : 8;
            all->items = mem_grow(all->items, all->capacity, sizeof *all->items);
            memset(all->items + old, 0, (all->capacity - old) * sizeof *all->items);
        }
        m = &all->items[all->count++];
    }
    uint32_t *arriving = m->arriving, *published = m->published;
    free(arriving);
    free(published);
    *m = (struct mbarrier){.addr = addr};
    if (all->block->worker->run->checks) {
        all->stride = clock_stride(&all->block->hazard->clock);
        m->arriving = mem_zero(all->stride, sizeof *m->arriving);
        m->published = mem_zero(all->stride, sizeof *m->published);
    }
    return m;
}

static void report(struct warp *w, const struct op *op, unsigned lane, const struct mbarrier *m,
                   enum hazard_reason reason, uint32_t addr)
{
    if (!w->checks)
        return;
    struct hazard_finding finding = {
        .kind = PTX_HAZARD_MBARRIER,
        .reason = reason,
        .line = op ? op->line : 0,
        .other_line = m ? m->line : 0,
        .thread = w->id * 32 + lane,
        .other = m && key_is_thread(m->init_key) ? m->init_key & 1023 : NOBODY,
        .other_block = w->block->index,
        .space = PTX_SPACE_SHARED,
        .address = addr,
        .bytes = 8,
        .element = 8,
    };
    if (m) {
        finding.note[0] = m->pending;
        finding.note[1] = m->tx > 0 ? (uint32_t)m->tx : m->tx < 0 ? (uint32_t)-m->tx : 0;
        finding.note[2] = m->phase;
        finding.note[3] = m->expected;
    }
    hazard_add(w, &finding);
}

/* The object at addr, ordered behind its initialisation; reports what is wrong with that. */
static struct mbarrier *use(struct warp *w, const struct op *op, unsigned lane, uint32_t addr)
{
    struct mbarriers *all = sync_mbarriers(w->block->sync);
    struct mbarrier *m = find(all, addr);
    if (!m || !m->live) {
        report(w, op, lane, m, REASON_NOT_INIT, addr);
        return NULL;
    }
    if (w->checks && m->init_key != w->hazard->clock.mine + lane &&
        !clock_ordered(&w->block->hazard->clock, w->id, lane, m->init_key))
        report(w, op, lane, m, REASON_PLAIN, addr);
    return m;
}

static void end_phase(struct warp *w, struct mbarrier *m)
{
    struct mbarriers *all = sync_mbarriers(w->block->sync);
    if (m->pending || m->tx)
        return;
    m->phase++;
    m->pending = m->expected;
    m->over = m->latest;
    m->latest = 0;
    for (uint32_t i = 0; m->arriving && i < all->stride; i++) {
        m->published[i] = m->published[i] > m->arriving[i] ? m->published[i] : m->arriving[i];
        m->arriving[i] = 0;
    }
    timeline_add(w,
                 (struct ptx_event){
                     .kind = PTX_EVENT_RELEASE, .address = m->addr, .bytes = 8, .value = m->phase});
}

#define EACH_LANE(mask, lane)                                                                      \
    for (uint32_t left_ = (mask), lane = 0; left_ && ((lane = (uint32_t)__builtin_ctz(left_)), 1); \
         left_ &= left_ - 1)

/* The lanes of mask with the address of lane `first`. */
static uint32_t lanes_at(uint32_t mask, const uint32_t addr[32], uint32_t first)
{
    uint32_t same = 0;
    EACH_LANE(mask, lane)
    {
        if (addr[lane] == addr[first])
            same |= 1u << lane;
    }
    return same;
}

void sync_mbarrier_init(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                        const uint32_t count[32])
{
    struct mbarriers *all = sync_mbarriers(w->block->sync);
    all->asker = NULL;
    EACH_LANE(mask, lane)
    {
        struct mbarrier *old = find(all, addr[lane]);
        if (old && old->live && (old->tx || old->pending != old->expected))
            report(w, op, lane, old, REASON_STILL_USED, addr[lane]);
        struct mbarrier *m = make(all, addr[lane]);
        m->live = true;
        m->expected = m->pending = count ? count[lane] : 1;
        m->line = op->line;
        m->init_key = w->checks ? w->hazard->clock.mine + lane : 0;
        if (w->checks) {
            uint32_t one[32] = {0};
            one[lane] = addr[lane];
            shadow_write_lanes(w, op, 1u << lane, one, 8);
        }
        memset(w->block->shared + addr[lane], 0, 8);
    }
}

void sync_mbarrier_inval(struct warp *w, const struct op *op, uint32_t mask,
                         const uint32_t addr[32])
{
    EACH_LANE(mask, lane)
    {
        struct mbarrier *m = use(w, op, lane, addr[lane]);
        if (!m)
            continue;
        if (m->tx || m->pending != m->expected)
            report(w, op, lane, m, REASON_STILL_USED, addr[lane]);
        m->live = false;
    }
}

static void arrive_one(struct warp *w, const struct op *op, unsigned lane, struct mbarrier *m,
                       uint32_t count, unsigned arrive)
{
    if (count > m->pending) {
        report(w, op, lane, m, REASON_TOO_MANY, m->addr);
        count = m->pending;
    }
    m->pending -= count;
    if (m->latest < timeline_now(w))
        m->latest = timeline_now(w);
    if (arrive & MBARRIER_ARRIVE_DROP)
        m->expected -= count < m->expected ? count : m->expected;
    if (arrive & MBARRIER_ARRIVE_NOCOMPLETE && !m->pending && !m->tx)
        report(w, op, lane, m, REASON_NO_PHASE, m->addr);
}

void sync_mbarrier_arrive(struct warp *w, const struct op *op, uint32_t mask,
                          const uint32_t addr[32], const uint32_t count[32], const uint32_t tx[32],
                          uint64_t state[32], unsigned arrive)
{
    struct mbarriers *all = sync_mbarriers(w->block->sync);
    all->asker = NULL;
    timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_ARRIVE,
                                       .line = op->line,
                                       .address = addr[__builtin_ctz(mask)],
                                       .bytes = 8});
    /* Everything the lanes did is published before any of them ends the phase. */
    uint32_t seen = 0;
    EACH_LANE(mask, first)
    {
        if (seen >> first & 1)
            continue;
        uint32_t same = lanes_at(mask & ~seen, addr, first);
        seen |= same;
        struct mbarrier *m = use(w, op, first, addr[first]);
        if (m && w->checks && !(arrive & MBARRIER_ARRIVE_RELAXED))
            clock_release(&w->block->hazard->clock, w->id, same, m->arriving);
    }
    EACH_LANE(mask, lane)
    {
        struct mbarrier *m = find(all, addr[lane]);
        if (!m || !m->live) {
            if (state)
                state[lane] = 0;
            continue;
        }
        if (state)
            state[lane] = (uint64_t)m->phase << 32 | m->pending;
        if (tx)
            m->tx += tx[lane];
        arrive_one(w, op, lane, m, count ? count[lane] : 1, arrive);
        end_phase(w, m);
    }
}

static void change_tx(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                      const uint32_t tx[32], int sign)
{
    sync_mbarriers(w->block->sync)->asker = NULL;
    EACH_LANE(mask, lane)
    {
        struct mbarrier *m = use(w, op, lane, addr[lane]);
        if (!m)
            continue;
        m->tx += sign * (int64_t)tx[lane];
        if (sign < 0)
            end_phase(w, m);
    }
}

void sync_mbarrier_expect_tx(struct warp *w, const struct op *op, uint32_t mask,
                             const uint32_t addr[32], const uint32_t tx[32])
{
    change_tx(w, op, mask, addr, tx, 1);
}

void sync_mbarrier_complete_tx(struct warp *w, const struct op *op, uint32_t mask,
                               const uint32_t addr[32], const uint32_t tx[32])
{
    change_tx(w, op, mask, addr, tx, -1);
}

/* Called when nobody in the block does anything but ask: says what the last one to ask waits for.
 */
bool mbarriers_stuck(struct mbarriers *all)
{
    struct mbarrier *m = find(all, all->asked);
    struct warp *w = all->asker;
    if (!w || !m)
        return false;
    const struct op *op = all->asker_op;
    unsigned lane = all->asker_lane;
    report(w, op, lane, m, m->tx ? REASON_NO_TX : REASON_MISSING, m->addr);
    if (m->tx > 0)
        stop_block(
            w, op, PTX_DEADLOCK, lane,
            _("deadlock: this mbarrier's phase waits for %lld more bytes that no copy brings"),
            (long long)m->tx);
    else if (m->tx < 0)
        stop_block(
            w, op, PTX_DEADLOCK, lane,
            _("deadlock: copies brought this mbarrier %lld bytes that no expect_tx announced"),
            (long long)-m->tx);
    else
        stop_block(w, op, PTX_DEADLOCK, lane,
                   _("deadlock: this mbarrier's phase waits for %u more arrivals, and no thread is "
                     "left to arrive"),
                   m->pending);
    return true;
}

enum test_by { BY_STATE, BY_PARITY };

static bool over(const struct mbarrier *m, enum test_by by, uint64_t value)
{
    return by == BY_STATE ? m->phase != (uint32_t)(value >> 32) : (m->phase & 1) != (value & 1);
}

static uint32_t test(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                     const uint64_t *state, const uint32_t *parity)
{
    uint32_t done = 0;
    enum test_by by = state ? BY_STATE : BY_PARITY;
    EACH_LANE(mask, lane)
    {
        uint64_t value = state ? state[lane] : parity[lane];
        struct mbarrier *m = use(w, op, lane, addr[lane]);
        if (!m) {
            done |= 1u << lane; /* reported; going on finds more than standing still */
            continue;
        }
        if (!over(m, by, value) && async_land_for(w, m->addr))
            m = find(sync_mbarriers(w->block->sync), addr[lane]);
        if (over(m, by, value)) {
            done |= 1u << lane;
            timeline_wait(w, m->over);
        } else {
            struct mbarriers *all = sync_mbarriers(w->block->sync);
            all->asker = w;
            all->asker_op = op;
            all->asker_lane = lane;
            all->asked = m->addr;
        }
    }
    uint32_t seen = 0;
    EACH_LANE(done, first)
    {
        struct mbarrier *m = find(sync_mbarriers(w->block->sync), addr[first]);
        if (seen >> first & 1 || !m || !w->checks || op->sem == SEM_RELAXED)
            continue;
        uint32_t same = lanes_at(done & ~seen, addr, first);
        seen |= same;
        clock_acquire(&w->block->hazard->clock, w->id, same, w->live, m->published);
    }
    if (done) {
        if (w->checks)
            hazard_new_interval(w->hazard);
        sync_mbarriers(w->block->sync)->asker = NULL;
        timeline_add(w, (struct ptx_event){.kind = PTX_EVENT_WAIT,
                                           .line = op->line,
                                           .address = addr[__builtin_ctz(done)],
                                           .bytes = 8});
    }
    return done;
}

uint32_t sync_mbarrier_test(struct warp *w, const struct op *op, uint32_t mask,
                            const uint32_t addr[32], const uint64_t state[32])
{
    return test(w, op, mask, addr, state, NULL);
}

uint32_t sync_mbarrier_test_parity(struct warp *w, const struct op *op, uint32_t mask,
                                   const uint32_t addr[32], const uint32_t parity[32])
{
    return test(w, op, mask, addr, NULL, parity);
}

void sync_mbarrier_pending_count(struct warp *w, const struct op *op, uint32_t mask,
                                 const uint64_t state[32], uint32_t count[32])
{
    (void)w;
    (void)op;
    EACH_LANE(mask, lane)
    {
        count[lane] = (uint32_t)state[lane];
    }
}

void sync_mbarrier_add_pending(struct warp *w, uint32_t addr, uint32_t count)
{
    struct mbarrier *m = find(sync_mbarriers(w->block->sync), addr);
    if (m && m->live)
        m->pending += count;
}

uint32_t *sync_mbarrier_vector(struct warp *w, uint32_t addr)
{
    struct mbarrier *m = find(sync_mbarriers(w->block->sync), addr);
    return m && m->live ? m->arriving : NULL;
}

void sync_mbarrier_land(struct warp *w, const struct op *op, unsigned lane, uint32_t addr,
                        uint32_t arrivals, uint32_t bytes)
{
    struct mbarriers *all = sync_mbarriers(w->block->sync);
    struct mbarrier *m = find(all, addr);
    all->asker = NULL;
    if (!m || !m->live) {
        report(w, op, lane, m, REASON_NOT_INIT, addr);
        return;
    }
    m->tx -= bytes;
    if (arrivals)
        arrive_one(w, op, lane, m, arrivals, 0);
    end_phase(w, m);
}
