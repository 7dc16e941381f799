/* The queue of a warp's asynchronous copies, between async.c (cp.async and its groups) and
 * async_bulk.c (bulk copies, and copies that report to an mbarrier).
 *
 * The arrays belong to struct async_warp and move when they grow: keep no pointers into them.
 *
 * Copies wait in the order of issue. A warp's lanes nearly always commit together; only then is one
 * group number enough for all (async_warp.mixed says when it is not). */
#ifndef STRIDE_PTX_ASYNC_QUEUE_H
#define STRIDE_PTX_ASYNC_QUEUE_H

#include "harness/ptx/async.h"

struct copy {
    const struct op *op;
    uint32_t mask; /* lanes that have not landed */
    uint32_t size;
    uint32_t group;  /* of all lanes, unless mixed */
    uint32_t batch;  /* number for the timeline */
    bool mixed, row; /* row: all 32 destinations one behind the other */
    bool partial;    /* some lanes bring fewer bytes than size: bytes[] counts */
    uint64_t serial, step;
    uint32_t epoch; /* of the warp, at issue */
    uint32_t dst[32];
    const uint8_t *src[32];
    uint32_t bytes[32], groups[32];
};

struct bulk {
    const struct op *op;
    unsigned lane;
    bool is_store, has_read;
    uint32_t shared, bytes, mbarrier, group, batch;
    uint8_t *host;
    uint64_t step;
    uint32_t epoch;
};

struct arrival { /* cp.async.mbarrier.arrive */
    const struct op *op;
    uint32_t lanes, mbarrier;
    uint64_t serial; /* copies up to this one */
};

struct async_warp {
    struct copy *copies;
    uint32_t count, capacity;
    struct bulk *bulks;
    uint32_t bulk_count, bulk_capacity;
    struct arrival *arrivals;
    uint32_t arrival_count, arrival_capacity;
    uint32_t committed[32], bulk_committed[32];
    uint32_t batch;    /* numbers groups and bulk copies for the timeline */
    uint32_t finished; /* groups below have landed */
    bool mixed;
    uint64_t serial;
};

/* Bounds and alignment of one lane's part; false and NULL after stop_block. */
bool async_check_shared(struct warp *w, const struct op *op, unsigned lane, uint32_t addr,
                        uint32_t bytes, uint32_t align);
uint8_t *async_check_global(struct warp *w, const struct op *op, unsigned lane, uint64_t va,
                            uint32_t bytes, uint32_t align);

/* Stores to the allocations that copies read are looked at while any are in flight. */
void async_watch_source(struct warp *w, const struct op *op, uint32_t lanes);
void async_unwatch_source(struct warp *w, uint32_t lanes);

/* Epoch of the warp's next access; 0 without checks. */
uint32_t async_epoch(const struct warp *w);

/* Moves these lanes' bytes. key: of the copy engine, or 0: the lanes have waited themselves. */
void async_land(const struct async_rows *rows, struct warp *w, struct copy *copy, uint32_t lanes,
                uint32_t key);
void async_drop_landed(struct async_warp *async);

/* A bulk store moves its bytes, unless it has. */
void async_finish_store(struct warp *w, struct bulk *bulk);

#endif
