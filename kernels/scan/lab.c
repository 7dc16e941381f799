/* The lab scan for the harness: running totals modulo 2^32, exact whatever is added first. */
#include "kernels/scan/lab.h"

#include "harness/lab.h"

#include <string.h>

enum { INPUT, OUTPUT, STATE };

static bool shape(struct lab_shape *out, uint64_t n)
{
    uint64_t tiles = n / kScanTile;
    if (tiles == 0 || n % kScanTile != 0 || n > 1u << 31)
        return false;
    *out = (struct lab_shape){
        .n = n,
        .grid = {(unsigned)tiles, 1, 1},
        .block = {kScanThreads, 1, 1},
        .buffers = {{"input", LAB_IN, LAB_U32, n},
                    {"output", LAB_OUT, LAB_U32, n},
                    {"state", LAB_SCRATCH, LAB_U64, 1 + tiles}},
        .buffer_count = 3,
        .args = {{.buffer = INPUT}, {.buffer = OUTPUT}, {.buffer = STATE}},
        .arg_count = 3,
        .bytes_moved = 8.0 * (double)n,
        .flops = (double)n,
    };
    return true;
}

/* All 32 bits: no two tiles have totals that could be taken for each other. */
static void fill(const struct lab_shape *of, int buffer, uint64_t seed,
                 void *host)
{
    uint32_t *values = host;
    uint32_t start = (uint32_t)lab_mix(seed, (uint64_t)buffer);
    if (buffer == STATE)
        memset(host, 0, of->buffers[buffer].count * sizeof(uint64_t));
    else
        LAB_EACH(i, of->buffers[buffer].count,
                 values[i] = lab_mix32(start, (uint32_t)i));
}

static void reference(const struct lab_shape *of, void *const host[],
                      void *const want[])
{
    const uint32_t *input = host[INPUT];
    uint32_t *output = want[OUTPUT], total = 0;
    for (size_t i = 0; i < of->buffers[INPUT].count; i++) {
        total += input[i];
        output[i] = total;
    }
}

static struct lab_tolerance tolerance(const struct lab_shape *of,
                                      int buffer)
{
    (void)of;
    (void)buffer;
    return (struct lab_tolerance){.absolute = 0};
}

/* Tiles are handed out to blocks as they begin. Which of its threads has an element is up to the
 * student. */
static struct lab_place locate(const struct lab_shape *of, int buffer,
                               size_t index)
{
    (void)of;
    (void)buffer;
    return (struct lab_place){
        .block = {(unsigned)(index / kScanTile), 0, 0},
        .any_thread = true,
        .tile = -1,
        .stage = -1,
    };
}

const struct lab lab_scan = {
    .slug = "scan",
    .peer = LAB_PEER_CUB,
    .shape = shape,
    .fill = fill,
    .reference = reference,
    .tolerance = tolerance,
    .locate = locate,
};
