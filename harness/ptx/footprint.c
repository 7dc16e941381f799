#include "harness/ptx/footprint.h"

#include "harness/base/buf.h"
#include "harness/ptx/global.h"
#include "harness/ptx/hazard.h"

#include <string.h>

static uint8_t how(const struct hazard_run *hazard, const struct global_words *words, uint64_t i)
{
    uint16_t site = words->write_site[i];
    const struct op *op = site < hazard->site_count ? hazard->sites[site] : NULL;
    bool atomic = op && op->kind == PTX_KIND_ATOMIC;
    uint8_t found = words->reader[i] ? PTX_TOUCH_READ : 0;
    if (words->writer[i])
        found |= atomic ? PTX_TOUCH_ATOMIC : PTX_TOUCH_WRITE;
    else if (site)
        found |= PTX_TOUCH_WRITE | PTX_TOUCH_PART;
    return found;
}

enum { BLOCK = 64 }; /* words looked at together */

/* Nobody touched these: most of a large allocation, for a launch that works on one chunk of it. */
static bool untouched(const struct global_words *words, uint64_t i)
{
    uint32_t any = 0;
    if (i % BLOCK || i + BLOCK > words->count)
        return false;
    for (unsigned k = 0; k < BLOCK; k++)
        any |= words->writer[i + k] | words->reader[i + k] | words->write_site[i + k];
    return !any;
}

/* A kernel may get the end of one piece and read backwards from there, or a place in front of the
 * first element. */
enum { NEAR = 4096 };

bool footprint_wants(const struct run *run, const struct ptx_memory *item)
{
    const struct ptx_launch *launch = run->launch;
    const uint8_t *params = launch->params;
    uint64_t value;
    if (!launch->options.footprint)
        return false;
    if (item->va >= IMAGE_WINDOW && item->va < FUNCTION_WINDOW)
        return true;
    for (size_t at = 0; at + sizeof value <= launch->param_bytes; at += 4) {
        memcpy(&value, params + at, sizeof value);
        if (value - item->va + NEAR <= item->bytes + 2 * NEAR)
            return true;
    }
    return false;
}

static void add(struct ptx_result *result, size_t *capacity, const struct ptx_touch *touch)
{
    if (result->touch_count == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 16;
        result->touches = mem_grow(result->touches, *capacity, sizeof *result->touches);
    }
    result->touches[result->touch_count++] = *touch;
}

void footprint_collect(struct ptx_result *result, const struct run *run)
{
    size_t capacity = 0;
    for (size_t item = 0; item < run->map.count; item++) {
        const struct ptx_memory *memory = &run->map.items[item];
        struct global_words words;
        if (!global_words(&words, run, item))
            continue;
        for (uint64_t i = 0; i < words.count;) {
            if (untouched(&words, i)) {
                i += BLOCK;
                continue;
            }
            uint8_t first = how(run->hazard, &words, i);
            uint64_t from = i * 4;
            do
                i++;
            while (i < words.count && (first || i % BLOCK) && how(run->hazard, &words, i) == first);
            uint64_t to = i * 4 < memory->bytes ? i * 4 : memory->bytes;
            if (first)
                add(result, &capacity, &(struct ptx_touch){memory->va + from, to - from, first});
        }
    }
}
