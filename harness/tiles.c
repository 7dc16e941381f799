#include "tiles.h"

/* No card has the memory for more; the bound keeps products in range. */
static const uint64_t MOST_BLOCKS = 1u << 24;

bool tiles_shape(const struct tiles *tiles, struct lab_shape *out, uint64_t n)
{
    uint64_t per_block = (uint64_t)tiles->tile_elements * tiles->tiles_per_block;
    uint64_t blocks = n / per_block;
    if (blocks == 0 || n % per_block != 0 || blocks > MOST_BLOCKS)
        return false;
    *out = (struct lab_shape){
        .n = n,
        .grid = {(unsigned)blocks, 1, 1},
        .block = {tiles->threads, 1, 1},
        .dynamic_shared_bytes = tiles->shared_bytes,
        .buffers = {{"input", LAB_IN, LAB_F32, n}, {"output", LAB_OUT, LAB_F32, n}},
        .buffer_count = 2,
        .args = {{.buffer = TILES_INPUT}, {.buffer = TILES_OUTPUT}},
        .arg_count = 2,
        .bytes_moved = 2.0 * sizeof(float) * (double)n,
        .flops = (double)tiles->flops * (double)n,
    };
    return true;
}

void tiles_fill(const struct lab_shape *shape, int buffer, uint64_t seed, void *host)
{
    float *values = host;
    uint32_t start = (uint32_t)lab_mix(seed, (uint64_t)buffer);
    for (size_t i = 0; i < shape->buffers[buffer].count; i++) {
        uint32_t mixed = ((uint32_t)i * 0x9e3779b1u + start) & 0x7fffffu;
        values[i] = (float)((int32_t)mixed - 0x400000) * 0x1p-21f;
    }
}

void tiles_reference(const struct tiles *tiles, const struct lab_shape *shape, void *const host[],
                     void *const want[])
{
    tiles->transform(host[TILES_INPUT], want[TILES_OUTPUT], shape->buffers[TILES_INPUT].count);
}

struct lab_tolerance tiles_tolerance(const struct lab_shape *shape, int buffer)
{
    (void)shape;
    (void)buffer;
    return (struct lab_tolerance){.absolute = 0x1p-23, .relative = 0x1p-22};
}

struct lab_place tiles_locate(const struct tiles *tiles, size_t index)
{
    size_t per_block = (size_t)tiles->tile_elements * tiles->tiles_per_block;
    size_t in_block = index % per_block;
    int tile = (int)(in_block / tiles->tile_elements);
    return (struct lab_place){
        .block = {(unsigned)(index / per_block), 0, 0},
        .thread = {(unsigned)(in_block % tiles->threads), 0, 0},
        .tile = tile,
        .stage = tile % (int)tiles->stages,
    };
}
