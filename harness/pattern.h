/* Guesses what went wrong from which elements are wrong and what stands in them.
 *
 * Everything is borrowed; the text is the caller's.
 *
 * It is a guess and words it so that it stays true: it says what is seen ("only the last tile of
 * each block; there stands the data of the tile before"), never what the student did. */
#ifndef STRIDE_HARNESS_PATTERN_H
#define STRIDE_HARNESS_PATTERN_H

#include "harness/check.h"

/* One sentence without a full stop, "" when nothing stands out; free() it. Only for a buffer in
 * which something is wrong. */
char *pattern_describe(const struct check_buffer *buffer, const struct check_outcome *outcome);

#endif
