/* The lab's peer: NVIDIA's own library doing the same on the same card, in the same run and timed
 * in the same way, as the honest top of the scale.
 *
 * Everything here is borrowed from the caller. A peer is a gift: where it is missing or refuses,
 * the timing stands without it, and err says why.
 *
 * It judges nothing: being slower than the peer is no fault.
 */
#ifndef STRIDE_HARNESS_PEER_H
#define STRIDE_HARNESS_PEER_H

#include "bench.h"
#include "cub_build.h"
#include "stats.h"

struct peer_places {       /* where libraries are */
    const char *cublas;    /* path; NULL without one */
    struct cub_build *cub; /* started for the lab; NULL when it has no use for it */
};

/* Whether peer_measure would have to wait for the peer first. */
bool peer_is_late(const struct lab *lab, const struct peer_places *places);

/* Milliseconds of one call, on the bench's buffers after all else; waits most_ms at most for a peer
 * that is late. False when there is none: err
 * says why, and is empty for a lab without a peer or a machine without cuBLAS. */
bool peer_measure(struct interval *ms, struct bench *bench, const struct peer_places *places,
                  double most_ms, struct err *err);

/* Writes `library` and `of_library` of a record's `timing` (docs/record.md). */
void peer_write(const struct interval *ms, const struct bench *bench, double yours_ms,
                json_t *timing);

#endif
