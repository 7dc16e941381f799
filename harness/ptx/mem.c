#include "harness/ptx/mem.h"

#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

uint8_t *memory_find(const struct memory_map *map, uint64_t va, uint64_t bytes, uint32_t *hint)
{
    if (*hint < map->count) {
        const struct ptx_memory *item = &map->items[*hint];
        if (va - item->va < item->bytes && bytes <= item->bytes - (va - item->va))
            return (uint8_t *)item->host + (va - item->va);
    }
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (map->items[middle].va <= va)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    const struct ptx_memory *item = &map->items[low - 1];
    if (va - item->va >= item->bytes || bytes > item->bytes - (va - item->va))
        return NULL;
    *hint = (uint32_t)(low - 1);
    return (uint8_t *)item->host + (va - item->va);
}

void words_read(const uint8_t *base, uint32_t offset, unsigned lane, void *out, uint32_t bytes)
{
    uint8_t *to = out;
    for (uint32_t i = 0; i < bytes; i++, offset++)
        to[i] = base[((size_t)(offset / 4) * WARP_LANES + lane) * 4 + offset % 4];
}

void words_write(uint8_t *base, uint32_t offset, unsigned lane, const void *in, uint32_t bytes)
{
    const uint8_t *from = in;
    for (uint32_t i = 0; i < bytes; i++, offset++)
        base[((size_t)(offset / 4) * WARP_LANES + lane) * 4 + offset % 4] = from[i];
}

enum ptx_space generic_space(uint64_t address)
{
    switch (address >> 32) {
    case SHARED_WINDOW >> 32:
        return PTX_SPACE_SHARED;
    case LOCAL_WINDOW >> 32:
        return PTX_SPACE_LOCAL;
    case CONST_WINDOW >> 32:
        return PTX_SPACE_CONST;
    case PARAM_WINDOW >> 32:
        return PTX_SPACE_PARAM;
    default:
        return PTX_SPACE_GLOBAL;
    }
}

bool generic_read(const struct warp *w, unsigned lane, uint64_t address, void *out, uint32_t bytes)
{
    const struct run *run = w->worker->run;
    uint32_t offset = (uint32_t)address, hint = 0;
    const uint8_t *from = NULL;
    switch (generic_space(address)) {
    case PTX_SPACE_SHARED:
        if ((uint64_t)offset + bytes <= w->block->shared_bytes)
            from = w->block->shared + offset;
        break;
    case PTX_SPACE_LOCAL:
        if ((uint64_t)offset + bytes > w->local_bytes)
            return false;
        words_read(w->local, offset, lane, out, bytes);
        return true;
    case PTX_SPACE_CONST:
        if ((uint64_t)offset + bytes <= run->constant_bytes)
            from = run->constants + offset;
        break;
    case PTX_SPACE_PARAM:
        if ((uint64_t)offset + bytes <= run->launch->param_bytes)
            from = (const uint8_t *)run->launch->params + offset;
        break;
    default:
        from = memory_find(&run->map, address, bytes, &hint);
        break;
    }
    if (!from)
        return false;
    memcpy(out, from, bytes);
    return true;
}

/* ---- faults */

static const char *verb(const struct op *op)
{
    return op->kind == PTX_KIND_STORE    ? _("write")
           : op->kind == PTX_KIND_ATOMIC ? _("atomic operation")
           : op->kind == PTX_KIND_ASYNC  ? _("asynchronous copy")
                                         : _("read");
}

static void note_fault(struct warp *w, enum ptx_fault fault, enum ptx_space space, uint64_t address)
{
    struct stop *stop = &w->worker->stop;
    stop->fault = fault;
    stop->space = space;
    stop->address = address;
}

static const char *item_name(const struct ptx_memory *item)
{
    return item->name && *item->name ? item->name : _("an unnamed allocation");
}

enum { NULL_ZONE = 1 << 20 }; /* addresses that can only come from a null pointer */

/* The allocation nearest to an address, and on which side of it the address lies. */
static void describe_nearest(const struct memory_map *map, uint64_t va, char *out, size_t size)
{
    const struct ptx_memory *best = NULL;
    unsigned long long best_distance = UINT64_MAX;
    for (size_t i = 0; i < map->count; i++) {
        const struct ptx_memory *item = &map->items[i];
        uint64_t end = item->va + item->bytes;
        uint64_t distance = va < item->va ? item->va - va : va >= end ? va - end : 0;
        if (distance < best_distance) {
            best = item;
            best_distance = distance;
        }
    }
    if (va < NULL_ZONE)
        snprintf(out, size, _("a null pointer and an offset of %u bytes"), (unsigned)va);
    else if (!best || best_distance > 1ull << 40)
        snprintf(out, size, "%s", _("no allocation is near"));
    else if (va < best->va)
        snprintf(out, size, _("%llu bytes before %s"), best_distance, item_name(best));
    else if (va > best->va + best->bytes)
        snprintf(out, size, _("%llu bytes behind the end of %s, which has %llu bytes"),
                 best_distance, item_name(best), (unsigned long long)best->bytes);
    else if (va == best->va + best->bytes)
        snprintf(out, size, _("right behind the end of %s, which has %llu bytes"), item_name(best),
                 (unsigned long long)best->bytes);
    else
        snprintf(out, size, _("it crosses the end of %s, which has %llu bytes"), item_name(best),
                 (unsigned long long)best->bytes);
}

static const char *space_word(enum ptx_space space)
{
    switch (space) {
    case PTX_SPACE_SHARED:
        return _("shared");
    case PTX_SPACE_LOCAL:
        return _("local");
    case PTX_SPACE_CONST:
        return _("constant");
    case PTX_SPACE_PARAM:
        return _("parameter");
    default:
        return _("global");
    }
}

static uint64_t space_end(const struct warp *w, enum ptx_space space)
{
    switch (space) {
    case PTX_SPACE_SHARED:
        return w->block->shared_bytes;
    case PTX_SPACE_LOCAL:
        return w->frame->local_base + w->frame->func->local_bytes;
    case PTX_SPACE_CONST:
        return w->worker->run->constant_bytes;
    default:
        return w->worker->run->launch->param_bytes;
    }
}

const struct op *fault_bounds(struct warp *w, const struct op *op, enum ptx_space space,
                              unsigned lane, uint64_t address, uint32_t bytes)
{
    unsigned long long at = address;
    bool global = space == PTX_SPACE_GLOBAL;
    if (w->worker->stopped)
        return NULL;
    if (global) {
        char where[200];
        describe_nearest(&w->worker->run->map, address, where, sizeof where);
        stop_block(w, op, PTX_FAULT, lane,
                   _("out of bounds: %s of %u bytes of global memory at address 0x%llx: %s"),
                   verb(op), bytes, at, where);
    } else {
        stop_block(w, op, PTX_FAULT, lane,
                   _("out of bounds: %s of %u bytes of %s memory at %llu, but it ends at byte "
                     "%llu"),
                   verb(op), bytes, space_word(space), at, (unsigned long long)space_end(w, space));
    }
    note_fault(w, global && address < NULL_ZONE ? PTX_FAULT_NULL : PTX_FAULT_BOUNDS, space,
               address);
    return NULL;
}

const struct op *fault_alignment(struct warp *w, const struct op *op, enum ptx_space space,
                                 unsigned lane, uint64_t address, uint32_t bytes)
{
    if (w->worker->stopped)
        return NULL;
    stop_block(w, op, PTX_FAULT, lane,
               _("misaligned: %s of %u bytes at %s address 0x%llx, which is not a multiple of %u"),
               verb(op), bytes, space_word(space), (unsigned long long)address, bytes);
    note_fault(w, PTX_FAULT_MISALIGNED, space, address);
    return NULL;
}

const struct op *fault_read_only(struct warp *w, const struct op *op, unsigned lane,
                                 uint64_t address)
{
    if (w->worker->stopped)
        return NULL;
    uint32_t hint = 0;
    memory_find(&w->worker->run->map, address, 1, &hint);
    stop_block(w, op, PTX_FAULT, lane, _("%s to %s, which the kernel must not change"), verb(op),
               item_name(&w->worker->run->map.items[hint]));
    note_fault(w, PTX_FAULT_READ_ONLY, PTX_SPACE_GLOBAL, address);
    return NULL;
}
