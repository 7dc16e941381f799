/* What a launch may change, kept to run it again from the start.
 *
 * Blocks that race with one another leave whatever their order left. On several threads that order
 * is luck, so such a launch is repeated on one, from the memory it began with: the same input then
 * gives the same result.
 *
 * A snapshot owns copies and borrows the launch. It knows nothing of running. */
#ifndef STRIDE_PTX_SNAPSHOT_H
#define STRIDE_PTX_SNAPSHOT_H

#include "harness/ptx/ptx.h"

struct snapshot {
    const struct ptx_launch *launch;
    uint8_t **bytes, **written; /* per allocation, NULL where nothing can change */
    uint8_t *variables;         /* of the image */
};

void snapshot_take(struct snapshot *snapshot, const struct ptx_launch *launch);
void snapshot_restore(const struct snapshot *snapshot);

/* Also of a zeroed snapshot. */
void snapshot_free(struct snapshot *snapshot);

#endif
