#include "harness/ptx/locks.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

struct locks {
    uint64_t *addresses; /* open addressing: address + 1, 0 is free */
    uint32_t *slots;     /* number of the vector */
    uint32_t capacity, count, stride;
    uint32_t *vectors;
    uint32_t vector_capacity; /* in uint32_t */
};

struct locks *locks_open(uint32_t stride)
{
    struct locks *locks = mem_zero(1, sizeof *locks);
    locks->stride = stride;
    return locks;
}

void locks_close(struct locks *locks)
{
    if (!locks)
        return;
    free(locks->addresses);
    free(locks->slots);
    free(locks->vectors);
    free(locks);
}

void locks_clear(struct locks *locks, uint32_t stride)
{
    if (locks->count)
        memset(locks->addresses, 0, locks->capacity * sizeof *locks->addresses);
    locks->count = 0;
    locks->stride = stride;
}

static uint32_t place(const struct locks *locks, uint64_t address)
{
    uint32_t at = (uint32_t)((address * 0x9e3779b97f4a7c15u) >> 40) & (locks->capacity - 1);
    while (locks->addresses[at] && locks->addresses[at] != address + 1)
        at = (at + 1) & (locks->capacity - 1);
    return at;
}

static void grow(struct locks *locks)
{
    struct locks old = *locks;
    locks->capacity = old.capacity ? 2 * old.capacity : 64;
    locks->addresses = mem_zero(locks->capacity, sizeof *locks->addresses);
    locks->slots = mem_zero(locks->capacity, sizeof *locks->slots);
    for (uint32_t i = 0; i < old.capacity; i++)
        if (old.addresses[i]) {
            uint32_t at = place(locks, old.addresses[i] - 1);
            locks->addresses[at] = old.addresses[i];
            locks->slots[at] = old.slots[i];
        }
    free(old.addresses);
    free(old.slots);
}

uint32_t *locks_find(struct locks *locks, uint64_t address, bool make)
{
    if (!locks->count && !make)
        return NULL;
    if (make && 2 * (locks->count + 1) > locks->capacity)
        grow(locks);
    uint32_t at = place(locks, address);
    if (!locks->addresses[at]) {
        if (!make)
            return NULL;
        uint32_t need = (locks->count + 1) * locks->stride;
        if (need > locks->vector_capacity) {
            locks->vector_capacity = 2 * need;
            locks->vectors =
                mem_grow(locks->vectors, locks->vector_capacity, sizeof *locks->vectors);
        }
        memset(locks->vectors + (size_t)locks->count * locks->stride, 0,
               locks->stride * sizeof *locks->vectors);
        locks->addresses[at] = address + 1;
        locks->slots[at] = locks->count++;
    }
    return locks->vectors + (size_t)locks->slots[at] * locks->stride;
}
