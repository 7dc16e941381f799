#include "harness/ptx/async.h"
#include "harness/ptx/cell.h"
#include "harness/ptx/observed.h"

#include <string.h>

/* The rules: what may follow what, and what to call it when nothing orders the two. */

static struct side side_of(const struct access *a, uint32_t key, uint16_t site)
{
    uint32_t thread = NOBODY;
    if (key_is_thread(key))
        thread = key & 1023;
    else if (key_is_many(key) || (key_is_several(key) && key_warp(key) != a->w->id))
        thread = key_warp(key) * 32 + (key_warp(key) == a->w->id && !a->lane);
    return (struct side){site, thread, thread == NOBODY ? NOBODY : thread / 32};
}

static struct hazard_finding finding_of(const struct access *a, const struct cell *cell,
                                        enum ptx_hazard_kind kind, enum hazard_reason reason,
                                        struct side other)
{
    return (struct hazard_finding){
        .kind = kind,
        .reason = reason,
        .line = a->op->line,
        .other_line = other.site == NO_SITE ? 0 : hazard_site_line(a->w, other.site),
        .thread = a->w->id * 32 + a->lane,
        .other = other.thread,
        .other_block = a->w->block->index,
        .space = a->global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED,
        .address = a->va + cell->address,
        .bytes = cell->bytes,
        .element = a->op->width ? a->op->width : 4,
    };
}

/* Reports from the other side's point of view when `turn` is set. */
void conflict_report(struct access *a, const struct cell *cell, enum ptx_hazard_kind kind,
                     enum hazard_reason reason, struct side other, bool turn)
{
    if (a->reported)
        return;
    a->reported = true;
    if (!a->global)
        a->block->raced[cell->address / 4] = 1;
    struct hazard_finding finding = finding_of(a, cell, kind, reason, other);
    if (turn && finding.other != NOBODY) {
        uint32_t line = finding.line, thread = finding.thread;
        finding.line = finding.other_line;
        finding.thread = finding.other;
        finding.other_line = line;
        finding.other = thread;
    }
    hazard_add(a->w, &finding);
}

void conflict_report_unset(struct access *a, const struct cell *cell, enum hazard_reason reason)
{
    if (a->reported || read_is_idle(a->w, a->op, a->lane))
        return;
    a->reported = true;
    struct hazard_finding finding = finding_of(a, cell, PTX_HAZARD_UNINITIALISED, reason,
                                               (struct side){NO_SITE, NOBODY, NOBODY});
    hazard_add_unset(a->w, &finding);
}

bool key_is_near(const struct access *a, uint32_t key)
{
    return (key_is_thread(key) || key_is_many(key)) && key_warp(key) == a->w->id;
}

static bool site_is_strong(const struct access *a, uint16_t site)
{
    const struct op *op = hazard_site_op(a->w, site);
    return op && hazard_is_strong(op);
}

bool site_is_copy(const struct access *a, uint16_t site)
{
    const struct op *op = hazard_site_op(a->w, site);
    return op && op->kind == PTX_KIND_ASYNC;
}

static bool site_is_atomic(const struct access *a, uint16_t site)
{
    const struct op *op = hazard_site_op(a->w, site);
    return op && op->kind == PTX_KIND_ATOMIC;
}

/* ---- which of the two should have come first ----
 *
 * A read and a write that nothing orders are one bug, whichever the simulator happened to run
 * first; but what is missing is either "the value was not there yet" or "it was still needed". The
 * threads' own programs tell: one that stores and then reads, between two barriers, expects the
 * others to have stored as well; one that reads and then stores overwrites what the others have yet
 * to read. */

enum sense { SENSE_UNKNOWN, SENSE_TOO_EARLY, SENSE_TOO_LATE }; /* of the read */

/* When did this warp last run anything at the place of `site`, since the barrier? 0: not. */
static uint32_t last_seen(const struct access *a, uint32_t warp, uint16_t site, bool near)
{
    const struct hazard_run *run = a->w->worker->run->hazard;
    if (warp == NOBODY || site >= run->site_count)
        return 0;
    const struct hazard_warp *h = &a->block->warps[warp];
    uint32_t from = near ? h->own_interval : h->interval, newest = 0, at = site;
    do {
        if (h->seen[at] >= from && h->seen[at] > newest)
            newest = h->seen[at];
        at = run->next_twin[at];
    } while (at != site);
    return newest;
}

/* Each warp's own order of the two places. now: the place that its current access is. */
static enum sense sense_of_warp(const struct access *a, uint32_t warp, uint16_t write,
                                uint16_t read, bool near)
{
    uint32_t w = last_seen(a, warp, write, near), r = last_seen(a, warp, read, near);
    return !w || !r ? SENSE_UNKNOWN : w < r ? SENSE_TOO_EARLY : SENSE_TOO_LATE;
}

static enum sense sense_of(const struct access *a, struct side other, bool reading, bool unset)
{
    uint16_t mine = shadow_site(a->op);
    uint16_t write = reading ? other.site : mine, read = reading ? mine : other.site;
    bool near = other.warp == a->w->id;
    enum sense here = sense_of_warp(a, a->w->id, write, read, near);
    enum sense there = near ? here : sense_of_warp(a, other.warp, write, read, near);
    if (here == SENSE_UNKNOWN || there == SENSE_UNKNOWN)
        here = here == SENSE_UNKNOWN ? there : here;
    else if (here != there)
        here = SENSE_UNKNOWN;
    if (here == SENSE_UNKNOWN)
        here = reading || unset ? SENSE_TOO_EARLY : SENSE_TOO_LATE;
    return here;
}

/* A read and a write, this access being one of them, that nothing orders. */
static void report_read_and_write(struct access *a, struct cell *cell, struct side other,
                                  bool reading, bool unset, bool engine)
{
    bool copied = reading ? site_is_copy(a, other.site) : a->async;
    bool near = other.warp == a->w->id;
    bool early = sense_of(a, other, reading, unset) == SENSE_TOO_EARLY;
    bool atomic = reading ? site_is_atomic(a, other.site) : a->op->kind == PTX_KIND_ATOMIC;
    enum ptx_hazard_kind kind;
    enum hazard_reason reason = engine ? REASON_BULK : near ? REASON_SAME_WARP : REASON_PLAIN;
    if (copied) {
        kind = early ? PTX_HAZARD_NOT_PUBLISHED : PTX_HAZARD_REFILL;
    } else if (near) {
        kind = PTX_HAZARD_LOCKSTEP;
        reason = early ? REASON_PLAIN : REASON_STORE;
    } else {
        kind = early ? PTX_HAZARD_RACE_READ_AFTER_WRITE : PTX_HAZARD_RACE_WRITE_AFTER_READ;
        reason = atomic ? REASON_ATOMIC : REASON_PLAIN;
    }
    conflict_report(a, cell, kind, reason, other, reading != early);
}

static void report_two_writes(struct access *a, struct cell *cell, struct side other)
{
    const struct ptx_line *lines = a->w->worker->run->func->module->lines;
    const struct op *op = hazard_site_op(a->w, other.site);
    bool copied = site_is_copy(a, other.site), near = other.warp == a->w->id;
    bool mine = a->op->kind == PTX_KIND_ATOMIC, theirs = site_is_atomic(a, other.site);
    enum hazard_reason reason = a->async || copied ? REASON_COPY
                                : mine || theirs   ? REASON_ATOMIC
                                                   : REASON_PLAIN;
    bool turn = reason == REASON_ATOMIC ? !mine
                : reason == REASON_COPY ? !a->async
                                        : op && lines[op->line].line > lines[a->op->line].line;
    bool lockstep = near && reason == REASON_PLAIN;
    conflict_report(a, cell, lockstep ? PTX_HAZARD_LOCKSTEP : PTX_HAZARD_RACE_WRITE_AFTER_WRITE,
                    reason, other, turn);
}

/* A write that nothing orders before this access. */
static void conflict_with_write(struct access *a, struct cell *cell, bool reading, bool same_value)
{
    uint32_t key = *cell->write_key;
    struct side other = side_of(a, key, *cell->write_site);
    bool near = other.warp == a->w->id;
    if (a->strong && site_is_strong(a, other.site) && !(near && a->op->sem == SEM_VOLATILE))
        return;
    if (!reading && same_value && !site_is_copy(a, other.site))
        return;
    if (reading && read_is_idle(a->w, a->op, a->lane))
        return;
    if (reading && key_is_thread(key) && !site_is_copy(a, other.site) &&
        observed_covers(a->w, a->lane, key & KEY_WHO, key >> KEY_WHO_BITS))
        conflict_report(a, cell, PTX_HAZARD_RACE_READ_AFTER_WRITE, REASON_NO_ACQUIRE, other, false);
    else if (reading)
        report_read_and_write(a, cell, other, true, false, key_is_async(key));
    else
        report_two_writes(a, cell, other);
}

/* A write to bytes, or a read of bytes, that a copy has not delivered. */
static void conflict_with_copy(struct access *a, struct cell *cell, bool reading)
{
    uint32_t owner = *cell->write_key & 1023;
    struct side other = {*cell->write_site, owner, owner / 32};
    const struct op *copy = hazard_site_op(a->w, other.site);
    bool bulk = copy && a->w->worker->hazard->bulk_sites[copy->site];
    if (a->async) {
        conflict_report(a, cell, PTX_HAZARD_RACE_WRITE_AFTER_WRITE, REASON_COPY, other, false);
        return;
    }
    if (!reading) {
        conflict_report(a, cell, PTX_HAZARD_IN_FLIGHT, REASON_STORE, other, false);
        return;
    }
    if (read_is_idle(a->w, a->op, a->lane))
        return;
    uint32_t issued = async_issue_epoch(a->w->block, owner, cell->address);
    if (!clock_knows(&a->block->clock, a->w->id, a->lane, owner, issued) &&
        sense_of(a, other, true, false) == SENSE_TOO_LATE)
        conflict_report(a, cell, PTX_HAZARD_REFILL,
                        other.warp == a->w->id ? REASON_SAME_WARP : REASON_PLAIN, other, true);
    else
        conflict_report(a, cell, PTX_HAZARD_IN_FLIGHT, bulk ? REASON_BULK : REASON_PLAIN, other,
                        false);
}

void cell_read(struct access *a, struct cell *cell)
{
    const struct clock *clock = &a->block->clock;
    uint32_t key = *cell->write_key, mine = a->h->clock.mine + a->lane;
    if (key == KEY_UNSET)
        conflict_report_unset(a, cell, REASON_PLAIN);
    else if (key_is_pending(key))
        conflict_with_copy(a, cell, true);
    else if (key != mine && !clock_ordered(clock, a->w->id, a->lane, key))
        conflict_with_write(a, cell, true, false);

    uint32_t read = *cell->read_key;
    if (read == KEY_LIST) {
        readers_add(a, cell);
        return;
    }
    if (read == mine || clock_ordered(clock, a->w->id, a->lane, read)) {
        *cell->read_key = mine;
        *cell->read_site = shadow_site(a->op);
        return;
    }
    if (a->h->precise) {
        readers_begin(a, cell, read);
        readers_add(a, cell);
        return;
    }
    /* a plain reader is the one to remember: strong ones conflict with less */
    if (!a->strong || site_is_strong(a, *cell->read_site))
        *cell->read_site = shadow_site(a->op);
    *cell->read_key = key_is_near(a, read) ? a->h->clock.many : a->h->clock.many | WHO_SEVERAL;
}

static void conflict_with_read(struct access *a, struct cell *cell, struct side other)
{
    bool near = other.warp == a->w->id;
    if (a->strong && site_is_strong(a, other.site) && !(near && a->op->sem == SEM_VOLATILE))
        return;
    report_read_and_write(a, cell, other, false, *cell->write_key == KEY_UNSET, false);
}

void cell_write(struct access *a, struct cell *cell, bool same_value)
{
    const struct clock *clock = &a->block->clock;
    uint32_t key = *cell->write_key, mine = a->h->clock.mine + a->lane;
    if (key_is_pending(key)) {
        conflict_with_copy(a, cell, false);
    } else if (key != KEY_UNSET && key != mine && !clock_ordered(clock, a->w->id, a->lane, key)) {
        conflict_with_write(a, cell, false, same_value);
    }
    if (a->global && same_value)
        return; /* whoever still has to read finds what it would have found */
    uint32_t read = *cell->read_key;
    if (read == KEY_LIST) {
        const struct shadow *s = &a->block->shadow;
        for (uint32_t at = *cell->readers; at; at = s->pool[at - 1].next) {
            const struct shadow_reader *reader = &s->pool[at - 1];
            int lane = reader_unordered(a, reader);
            if (lane >= 0)
                conflict_with_read(
                    a, cell,
                    (struct side){reader->site, reader->warp * 32u + (uint32_t)lane, reader->warp});
        }
    } else if (read != mine && !clock_ordered(clock, a->w->id, a->lane, read)) {
        conflict_with_read(a, cell, side_of(a, read, *cell->read_site));
    }
}

/* After a write that was ordered behind all readers nobody needs them any more; after one that was
 * not they have been reported. */
void cell_stamp(struct access *a, struct cell *cell, uint32_t key)
{
    if (*cell->read_key == KEY_LIST) {
        readers_drop(&a->block->shadow, cell);
        *cell->read_key = 0;
    }
    /* A plain store stays in view behind one's own atomic until the block's next barrier: it is
     * what other atomics conflict with. */
    if (a->strong && key_is_thread(key) && ((*cell->write_key ^ key) & KEY_WHO) == 0 &&
        *cell->write_key >= a->h->clock.floor && *cell->write_key < KEY_SPECIAL &&
        !site_is_strong(a, *cell->write_site))
        return;
    *cell->write_site = shadow_site(a->op);
    *cell->write_key = key;
}
