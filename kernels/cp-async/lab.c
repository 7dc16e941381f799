/* The lab cp-async for the harness. lab.h holds the arithmetic, harness/tiles.c the rest. */
#include "kernels/cp-async/lab.h"

#include "harness/tiles.h"

TILES_TRANSFORM(transform, asyncTransform)

static const struct tiles tiles = {
    .threads = kAsyncThreadsPerBlock,
    .tile_elements = kAsyncTileElements,
    .tiles_per_block = kAsyncTilesPerBlock,
    .stages = 2,
    .flops = 2 * kAsyncTransformSteps,
    .transform = transform,
};

TILES_LAB(lab_cp_async, "cp-async", tiles)
