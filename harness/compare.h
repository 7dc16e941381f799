/* One element of a buffer against what it should be: shared by check.c, compare.c and pattern.c.
 *
 * Everything is borrowed and nothing is kept.
 *
 * It never rounds an answer into rightness: NaN is wrong, an infinity is right only where the same
 * one is wanted, and integers are equal or wrong. */
#ifndef STRIDE_HARNESS_COMPARE_H
#define STRIDE_HARNESS_COMPARE_H

#include "harness/check.h"

/* The element as a number; exact but for 64-bit integers above 2^53. */
double compare_value(enum lab_type type, const void *base, size_t index);
bool compare_right(const struct check_buffer *buffer, struct lab_tolerance tolerance, size_t index);

/* Still holds the poison: the kernel never wrote it. */
bool compare_unwritten(const struct check_buffer *buffer, size_t index);

/* The largest |value| of floats [from, to) as a float's bits, which order like the values; NaNs are
 * the largest. */
enum { COMPARE_INFINITY_BITS = 0x7f800000 };
int32_t compare_largest_bits(const void *base, size_t from, size_t to);

/* The largest error that would pass anywhere in this buffer. */
double compare_allowance(const struct check_buffer *buffer);

/* A JSON number, or "nan", "inf", "-inf". New reference. */
json_t *compare_json(double value);

#endif
