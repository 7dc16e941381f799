/* Where the lanes' addresses lead: shared, global, local, const and param memory, and generic
 * addresses that are any of them.
 *
 * Nothing is owned; host pointers are valid for the operation that asked.
 *
 * Every access is checked for bounds and alignment before the hooks of hazard.h see it and before a
 * byte moves. */
#ifndef STRIDE_PTX_MEM_H
#define STRIDE_PTX_MEM_H

#include "harness/ptx/exec.h"

/* Local memory of one lane: words of the 32 lanes stand in a row. */
static inline uint8_t *local_word(const struct warp *w, uint32_t offset, unsigned lane)
{
    return w->local + ((size_t)(offset / 4) * WARP_LANES + lane) * 4 + offset % 4;
}

/* Copies between a lane's local (or .param) words and a flat buffer. */
void words_read(const uint8_t *base, uint32_t offset, unsigned lane, void *out, uint32_t bytes);
void words_write(uint8_t *base, uint32_t offset, unsigned lane, const void *in, uint32_t bytes);

enum ptx_space generic_space(
    uint64_t address); /* the window it lies in; PTX_SPACE_GLOBAL outside */

/* The faults, with a sentence each: these stop the block and return NULL. */
const struct op *fault_bounds(struct warp *w, const struct op *op, enum ptx_space space,
                              unsigned lane, uint64_t address, uint32_t bytes);
const struct op *fault_alignment(struct warp *w, const struct op *op, enum ptx_space space,
                                 unsigned lane, uint64_t address, uint32_t bytes);
const struct op *fault_read_only(struct warp *w, const struct op *op, unsigned lane,
                                 uint64_t address);

/* Reads bytes at a generic address for one lane, without hazard checks: for printf. False when it
 * is not readable. */
bool generic_read(const struct warp *w, unsigned lane, uint64_t address, void *out, uint32_t bytes);

#endif
