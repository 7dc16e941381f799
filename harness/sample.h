/* Judging an output by a sample, for labs whose whole reference takes minutes at the timed size:
 * some thousand elements spread over the buffer are compared, and every element is looked at for
 * poison and NaN.
 *
 * Everything is borrowed; the right values of what was compared are written into the caller's
 * zeroed array.
 *
 * A wrong element outside the sample goes unseen: the correctness check, which compares all of
 * them, comes before. */
#ifndef STRIDE_HARNESS_SAMPLE_H
#define STRIDE_HARNESS_SAMPLE_H

#include "harness/check.h"

enum { SAMPLE_RUNS = 1024, SAMPLE_RUN = 4 }; /* so many places, and elements in a row at each */

/* As check_compare, for a buffer of floats of a lab that has `element`; buffer->want is `want`. The
 * seed decides which elements. */
bool sample_compare(struct check_outcome *out, const struct check_buffer *buffer, float *want,
                    uint64_t seed);

#endif
