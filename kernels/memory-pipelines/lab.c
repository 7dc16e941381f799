/* The lab memory-pipelines for the harness: the tiles of cp-async. */
#include "kernels/memory-pipelines/lab.h"

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

TILES_LAB(lab_memory_pipelines, "memory-pipelines", tiles)
