/* The lab multi-stage for the harness. lab.h holds the arithmetic, harness/tiles.c the rest. */
#include "kernels/multi-stage/lab.h"

#include "harness/tiles.h"

TILES_TRANSFORM(transform, stagesTransform)

static const struct tiles tiles = {
    .threads = kStagesThreadsPerBlock,
    .tile_elements = kStagesTileElements,
    .tiles_per_block = kStagesTilesPerBlock,
    .stages = 4,
    .shared_bytes = kStagesSharedBytes,
    .flops = 2 * 16,
    .transform = transform,
};

TILES_LAB(lab_multi_stage, "multi-stage", tiles)
