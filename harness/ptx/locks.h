/* What strong writes released and strong reads acquire, by address: locks, flags, tickets.
 *
 * A struct locks owns a vector per address that something was released at; vectors are maxima, of
 * epochs per thread (inside a block) or per block (between blocks).
 *
 * It does not know whose epochs they are, and never orders anything by itself. */
#ifndef STRIDE_PTX_LOCKS_H
#define STRIDE_PTX_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct locks;

struct locks *locks_open(uint32_t stride); /* entries per vector */
void locks_close(struct locks *locks);

/* Forgets all; the stride may change. */
void locks_clear(struct locks *locks, uint32_t stride);

/* The vector of an address, made when `make` is set, else NULL where there is none. Valid until the
 * next call. */
uint32_t *locks_find(struct locks *locks, uint64_t address, bool make);

#endif
