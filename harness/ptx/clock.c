#include "harness/ptx/clock.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

/* In scalar mode nothing is stored in rows; enter_vectors writes down what floors stood for. A row
 * is valid for all lanes of a warp that is not split: it says of the warp's own lanes what each
 * knows of the others, and clock_knows answers for a thread's own accesses before it looks. */

static uint32_t epoch_of(uint32_t key)
{
    return key >> KEY_WHO_BITS;
}

static uint32_t *row_of(const struct clock *clock, uint32_t warp, unsigned lane)
{
    uint32_t thread = warp * 32 + (clock->warps[warp]->split ? lane : 0);
    return clock->rows + (size_t)thread * clock->stride;
}

static void join(uint32_t *into, const uint32_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* Starts a new epoch for one warp; what it did before is older than what it does next. */
void clock_advance(struct clock *clock, uint32_t warp)
{
    if (clock->now + 2 >= KEY_EPOCHS) {
        clock->forget(clock->owner);
        clock->vectors = false;
        clock->now = 1;
        clock->async_newest = 0;
        for (uint32_t w = 0; w < clock->warp_count; w++) {
            struct clock_warp *other = clock->warps[w];
            other->mine = 1u << KEY_WHO_BITS | w << 5;
            other->many = other->mine | WHO_MANY;
            other->floor = other->own_floor = 1u << KEY_WHO_BITS;
            other->split = false;
            memset(other->fenced, 0, sizeof other->fenced);
        }
    }
    clock->now++;
    clock->warps[warp]->mine = clock->now << KEY_WHO_BITS | warp << 5;
    clock->warps[warp]->many = clock->warps[warp]->mine | WHO_MANY;
}

void clock_begin(struct clock *clock, uint32_t thread_count)
{
    clock->thread_count = thread_count;
    clock->warp_count = (thread_count + 31) / 32;
    clock->stride = clock->warp_count * 32 + 16; /* the copy engine's entry, and whole vectors */
    clock->vectors = false;
    clock->now = 0;
    clock->async_newest = 0;
    for (uint32_t w = 0; w < clock->warp_count; w++) {
        clock->warps[w]->split = false;
        memset(clock->warps[w]->fenced, 0, sizeof clock->warps[w]->fenced);
    }
    clock_block_barrier(clock);
}

void clock_free(struct clock *clock)
{
    free(clock->rows);
    free(clock->scratch);
    clock->rows = clock->scratch = NULL;
    clock->row_capacity = 0;
}

uint32_t clock_stride(const struct clock *clock)
{
    return clock->stride;
}

static uint32_t async_index(const struct clock *clock)
{
    return clock->warp_count * 32;
}

static void enter_vectors(struct clock *clock)
{
    if (clock->vectors)
        return;
    uint32_t need = clock->warp_count * 32 * clock->stride;
    if (clock->row_capacity < need) {
        free(clock->rows);
        free(clock->scratch);
        clock->rows = mem_zero(need, sizeof *clock->rows);
        clock->scratch = mem_zero(clock->stride, sizeof *clock->scratch);
        clock->row_capacity = need;
    }
    for (uint32_t w = 0; w < clock->warp_count; w++) {
        struct clock_warp *warp = clock->warps[w];
        warp->split = false;
        uint32_t *row = row_of(clock, w, 0);
        for (uint32_t i = 0; i < clock->stride; i++)
            row[i] = epoch_of(warp->floor) - 1;
        for (uint32_t i = 0; i < 32; i++)
            row[w * 32 + i] = epoch_of(warp->own_floor) - 1;
    }
    clock->vectors = true;
}

static void split(struct clock *clock, uint32_t warp)
{
    struct clock_warp *state = clock->warps[warp];
    if (state->split)
        return;
    uint32_t *first = row_of(clock, warp, 0);
    state->split = true;
    for (unsigned lane = 1; lane < 32; lane++)
        memcpy(row_of(clock, warp, lane), first, clock->stride * sizeof *first);
}

/* The floors follow from the rows: the least that any lane knows of anyone. A thread's own entry
 * lags behind what it did, so it is left out; so are threads that do not exist. */
static void lower_floors(struct clock *clock, uint32_t warp)
{
    struct clock_warp *state = clock->warps[warp];
    uint32_t least = UINT32_MAX, own = UINT32_MAX;
    for (unsigned lane = 0; lane < (state->split ? 32u : 1u); lane++) {
        const uint32_t *row = row_of(clock, warp, lane);
        for (uint32_t i = 0; i < clock->thread_count; i++)
            if (i >> 5 != warp)
                least = least < row[i] ? least : row[i];
        if (row[async_index(clock)] < clock->async_newest)
            least = least < row[async_index(clock)] ? least : row[async_index(clock)];
        for (uint32_t i = warp * 32; i < warp * 32 + 32 && i < clock->thread_count; i++)
            if (i != warp * 32 + lane || !state->split)
                own = own < row[i] ? own : row[i];
    }
    state->own_floor =
        own == UINT32_MAX ? state->mine & ~(uint32_t)KEY_WHO : (own + 1) << KEY_WHO_BITS;
    least = least == UINT32_MAX ? epoch_of(state->own_floor) - 1 : least;
    uint32_t floor = (least + 1) << KEY_WHO_BITS;
    state->floor = floor < state->own_floor ? floor : state->own_floor;
}

bool clock_knows(const struct clock *clock, uint32_t warp, unsigned lane, uint32_t who,
                 uint32_t epoch)
{
    const struct clock_warp *state = clock->warps[warp];
    if (epoch < epoch_of(state->floor) || who == warp * 32 + lane)
        return true;
    if (who < 1024 && who >> 5 == warp && epoch < epoch_of(state->own_floor))
        return true;
    if (!clock->vectors)
        return false;
    uint32_t index = who == WHO_ASYNC ? async_index(clock) : who;
    return epoch <= row_of(clock, warp, lane)[index];
}

bool clock_ordered(const struct clock *clock, uint32_t warp, unsigned lane, uint32_t key)
{
    const struct clock_warp *state = clock->warps[warp];
    if (key < state->floor)
        return true;
    uint32_t epoch = epoch_of(key), who = key & KEY_WHO;
    if (key_is_several(key))
        return false;
    if (!key_is_many(key))
        return clock_knows(clock, warp, lane, who, epoch);
    if (key_warp(key) == warp && key < state->own_floor)
        return true;
    if (!clock->vectors)
        return false;
    for (uint32_t i = 0; i < 32; i++)
        if (key_warp(key) * 32 + i < clock->thread_count &&
            !clock_knows(clock, warp, lane, key_warp(key) * 32 + i, epoch))
            return false;
    return true;
}

void clock_block_barrier(struct clock *clock)
{
    clock_advance(clock, 0);
    for (uint32_t w = 0; w < clock->warp_count; w++) {
        struct clock_warp *state = clock->warps[w];
        state->mine = clock->now << KEY_WHO_BITS | w << 5;
        state->many = state->mine | WHO_MANY;
        state->floor = state->own_floor = clock->now << KEY_WHO_BITS;
        state->split = false;
    }
    clock->vectors = false;
}

void clock_warp_sync(struct clock *clock, uint32_t warp, uint32_t lanes, uint32_t live)
{
    struct clock_warp *state = clock->warps[warp];
    bool all = (lanes & live) == live;
    if (!all)
        enter_vectors(clock);
    if (clock->vectors) {
        uint32_t *vector = clock->scratch;
        memset(vector, 0, clock->stride * sizeof *vector);
        uint32_t epoch = epoch_of(state->mine);
        for (unsigned lane = 0; lane < 32; lane++)
            if (lanes >> lane & 1) {
                join(vector, row_of(clock, warp, lane), clock->stride);
                vector[warp * 32 + lane] = epoch;
            }
        if (all) {
            /* lanes that have exited can't do anything that would have to be ordered any more */
            state->split = false;
            for (unsigned lane = 0; lane < 32; lane++)
                vector[warp * 32 + lane] = epoch;
            memcpy(row_of(clock, warp, 0), vector, clock->stride * sizeof *vector);
        } else {
            split(clock, warp);
            for (unsigned lane = 0; lane < 32; lane++)
                if (lanes >> lane & 1)
                    memcpy(row_of(clock, warp, lane), vector, clock->stride * sizeof *vector);
        }
    }
    clock_advance(clock, warp);
    if (clock->vectors)
        lower_floors(clock, warp);
    else if (all)
        state->own_floor = state->mine & ~(uint32_t)KEY_WHO;
}

static void add_row(struct clock *clock, uint32_t warp, unsigned lane, uint32_t own,
                    uint32_t *vector)
{
    join(vector, row_of(clock, warp, lane), clock->stride);
    uint32_t *entry = &vector[warp * 32 + lane];
    *entry = *entry > own ? *entry : own;
}

void clock_release(struct clock *clock, uint32_t warp, uint32_t lanes, uint32_t *vector)
{
    enter_vectors(clock);
    struct clock_warp *state = clock->warps[warp];
    uint32_t epoch = epoch_of(state->mine);
    bool first = true;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        if (first || state->split)
            add_row(clock, warp, lane, epoch, vector);
        else if (vector[warp * 32 + lane] < epoch)
            vector[warp * 32 + lane] = epoch;
        first = false;
    }
    clock_advance(clock, warp);
}

void clock_release_fenced(struct clock *clock, uint32_t warp, uint32_t lanes, uint32_t *vector)
{
    enter_vectors(clock);
    for (unsigned lane = 0; lane < 32; lane++)
        if (lanes >> lane & 1 && clock->warps[warp]->fenced[lane])
            add_row(clock, warp, lane, clock->warps[warp]->fenced[lane], vector);
}

void clock_acquire(struct clock *clock, uint32_t warp, uint32_t lanes, uint32_t live,
                   const uint32_t *vector)
{
    enter_vectors(clock);
    if ((lanes & live) == live && !clock->warps[warp]->split) {
        join(row_of(clock, warp, 0), vector, clock->stride);
    } else {
        split(clock, warp);
        for (unsigned lane = 0; lane < 32; lane++)
            if (lanes >> lane & 1)
                join(row_of(clock, warp, lane), vector, clock->stride);
    }
    lower_floors(clock, warp);
}

void clock_fence(struct clock *clock, uint32_t warp, uint32_t lanes)
{
    for (unsigned lane = 0; lane < 32; lane++)
        if (lanes >> lane & 1)
            clock->warps[warp]->fenced[lane] = epoch_of(clock->warps[warp]->mine);
    clock_advance(clock, warp);
}

uint32_t clock_async_key(struct clock *clock, uint32_t *vector)
{
    enter_vectors(clock);
    /* Epochs are drawn by warps; one drawn here belongs to no warp and is newer than all. */
    uint32_t keep_mine = clock->warps[0]->mine, keep_many = clock->warps[0]->many;
    uint32_t before = clock->now;
    clock_advance(clock, 0);
    if (clock->now > before) {
        clock->warps[0]->mine = keep_mine;
        clock->warps[0]->many = keep_many;
    }
    enter_vectors(clock);
    clock->async_newest = clock->now;
    uint32_t *entry = &vector[async_index(clock)];
    *entry = *entry > clock->now ? *entry : clock->now;
    return clock->now << KEY_WHO_BITS | WHO_ASYNC;
}
