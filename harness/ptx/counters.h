/* What a kernel costs, counted while it runs: requests, 32-byte sectors and bank conflicts per
 * access, copies in flight at each wait.
 *
 * A worker owns one struct site_counters per site of the module; counters_collect sums them over
 * workers into the caller's result. Instruction counts come from the basic blocks (exec.h) and are
 * added up there too.
 *
 * Everything here is a count, nothing is a time: PTX is not what the GPU executes. */
#ifndef STRIDE_PTX_COUNTERS_H
#define STRIDE_PTX_COUNTERS_H

#include "harness/ptx/exec.h"

struct site_counters {
    uint64_t requests;    /* warp instructions */
    uint64_t units;       /* global and local memory: sectors; shared: wavefronts */
    uint64_t ideal;       /* shared: wavefronts without a bank conflict */
    uint64_t bytes;       /* that lanes asked for */
    uint32_t most, least; /* waits: groups in flight behind it; least is kept plus 1, 0: never */
};

/* The general cases, exact. addr: per lane, for the lanes of mask. */
void counters_shared(struct warp *w, const struct op *op, uint32_t mask, const uint32_t addr[32],
                     uint32_t bytes);
void counters_global(struct warp *w, const struct op *op, uint32_t mask, const uint64_t addr[32],
                     uint32_t bytes);
void counters_local(struct warp *w, const struct op *op, uint32_t mask, uint32_t bytes);

/* A cp.async: bytes moved from global to shared memory. */
void counters_async(struct warp *w, const struct op *op, uint32_t mask, const uint32_t dst[32],
                    const uint64_t src[32], uint32_t bytes);

/* A wait; `left`: groups that may still be in flight behind it. */
void counters_wait(struct warp *w, const struct op *op, uint32_t left);

static inline void counters_shared_row(struct warp *w, const struct op *op, uint32_t bytes)
{
    struct site_counters *site = &w->worker->sites[op->site];
    site->requests++;
    site->units += bytes / 4;
    site->ideal += bytes / 4;
    site->bytes += 32 * bytes;
}

static inline void counters_shared_same(struct warp *w, const struct op *op, uint32_t mask,
                                        uint32_t bytes)
{
    struct site_counters *site = &w->worker->sites[op->site];
    site->requests++;
    site->units++;
    site->ideal++;
    site->bytes += (uint32_t)__builtin_popcount(mask) * bytes;
}

/* 4-byte reads of each half of the warp in one go: `words` neighbouring words from `first` on. */
static inline void counters_shared_halves(struct warp *w, const struct op *op, uint32_t first_low,
                                          uint32_t words_low, uint32_t first_high,
                                          uint32_t words_high)
{
    struct site_counters *site = &w->worker->sites[op->site];
    uint32_t low = first_low / 4, high = first_high / 4, apart = (high - low) & 31;
    uint32_t from = low < high ? low : high;
    uint32_t end = low + words_low > high + words_high ? low + words_low : high + words_high;
    bool conflict = end - from > 32 && (apart < words_low || apart + words_high > 32);
    site->requests++;
    site->units += 1 + conflict;
    site->ideal++;
    site->bytes += 128;
}

static inline void counters_global_row(struct warp *w, const struct op *op, uint64_t first,
                                       uint32_t bytes)
{
    struct site_counters *site = &w->worker->sites[op->site];
    site->requests++;
    site->units += ((first & 31) + 32 * bytes + 31) / 32;
    site->bytes += 32 * bytes;
}

/* Sums everything into result->counters, ->lines. */
void counters_collect(struct ptx_result *result, const struct run *run, struct worker *workers,
                      size_t count);

#endif
