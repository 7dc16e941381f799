/* Counts the instructions that a lesson is about in a listing: PTX text, or SASS as nvdisasm and
 * cuobjdump print it.
 *
 * Pure: text in, a number out.
 *
 * It understands the shape of a line (label, guard, comment, braces), not what it does. */
#ifndef STRIDE_HARNESS_LANDMARK_H
#define STRIDE_HARNESS_LANDMARK_H

#include "harness/base/labfile.h"

#include <jansson.h>
#include <stddef.h>

/* How many instructions of the listing start with `match`. */
unsigned landmark_count(const char *listing, size_t len, const char *match);

/* The record's entry of one landmark. */
json_t *landmark_json(const struct lab_landmark *landmark, unsigned found);

/* Whether it applies to code for this capability (90). */
bool landmark_applies(const struct lab_landmark *landmark, unsigned capability);

#endif
