#include "harness/ptx/footprint.h"

#include "harness/base/buf.h"
#include "harness/ptx/global.h"
#include "harness/ptx/hazard.h"

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
            uint8_t first = how(run->hazard, &words, i);
            uint64_t from = i * 4;
            do
                i++;
            while (i < words.count && how(run->hazard, &words, i) == first);
            uint64_t to = i * 4 < memory->bytes ? i * 4 : memory->bytes;
            if (first)
                add(result, &capacity, &(struct ptx_touch){memory->va + from, to - from, first});
        }
    }
}
