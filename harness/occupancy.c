#include "occupancy.h"

#include <stddef.h>

/* CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability". Every one of
 * them has 65,536 registers in four partitions and takes blocks of up to 1,024 threads. */
struct limits {
    unsigned capability, threads, blocks, shared_bytes, shared_block_bytes, reserved_bytes,
        unit_bytes;
};

static const struct limits table[] = {
    {75, 1024, 16, 65536, 65536, 0, 256},       {80, 2048, 32, 167936, 166912, 1024, 128},
    {86, 1536, 16, 102400, 101376, 1024, 128},  {87, 1536, 16, 167936, 166912, 1024, 128},
    {88, 1536, 24, 102400, 101376, 1024, 128},  {89, 1536, 24, 102400, 101376, 1024, 128},
    {90, 2048, 32, 233472, 232448, 1024, 128},  {100, 2048, 32, 233472, 232448, 1024, 128},
    {103, 2048, 32, 233472, 232448, 1024, 128}, {110, 1536, 24, 233472, 232448, 1024, 128},
    {120, 1536, 24, 102400, 101376, 1024, 128}, {121, 1536, 24, 102400, 101376, 1024, 128},
};

enum {
    WARP = 32,
    REGISTERS = 65536,
    REGISTER_UNIT = 256,
    PARTITIONS = 4,
    BLOCK_MOST = 1024,
    REGISTERS_MOST = 255
};

static unsigned round_up(unsigned value, unsigned unit)
{
    return (value + unit - 1) / unit * unit;
}

static const struct limits *find_limits(unsigned capability)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].capability == capability)
            return &table[i];
    return NULL;
}

/* Registers are given to whole warps, and each warp lives in one partition. */
static unsigned blocks_by_registers(unsigned registers, unsigned warps)
{
    unsigned per_warp = round_up(registers * WARP, REGISTER_UNIT);
    if (registers > REGISTERS_MOST || per_warp * round_up(warps, PARTITIONS) > REGISTERS)
        return 0;
    return REGISTERS / PARTITIONS / per_warp * PARTITIONS / warps;
}

bool occupancy_compute(struct occupancy *out, unsigned capability, unsigned block_threads,
                       unsigned registers, unsigned shared_bytes)
{
    const struct limits *sm = find_limits(capability);
    *out = (struct occupancy){.limited_by = ""};
    if (!sm || !block_threads || block_threads > BLOCK_MOST || !registers ||
        shared_bytes > sm->shared_block_bytes)
        return false;
    unsigned warps = round_up(block_threads, WARP) / WARP;
    unsigned shared = round_up(shared_bytes + sm->reserved_bytes, sm->unit_bytes);
    const struct {
        const char *name;
        unsigned blocks;
    } bounds[] = {
        {"threads", sm->threads / WARP / warps},
        {"blocks", sm->blocks},
        {"registers", blocks_by_registers(registers, warps)},
        {"shared memory", shared ? sm->shared_bytes / shared : sm->blocks},
    };
    out->blocks_per_sm = bounds[0].blocks;
    out->limited_by = bounds[0].name;
    for (size_t i = 1; i < sizeof bounds / sizeof *bounds; i++)
        if (bounds[i].blocks < out->blocks_per_sm) {
            out->blocks_per_sm = bounds[i].blocks;
            out->limited_by = bounds[i].name;
        }
    out->warps_most = sm->threads / WARP;
    out->warps_per_sm = out->blocks_per_sm * warps;
    if (out->warps_per_sm == out->warps_most)
        out->limited_by = "";
    return out->blocks_per_sm > 0;
}
