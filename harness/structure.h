/* Whether a host lab's run is built as the lesson asks: lab.yaml's `structure` held against what
 * was measured.
 *
 * JSON that is returned belongs to the caller.
 *
 * What could not be measured is left out, and never counts as reached. */
#ifndef STRIDE_HARNESS_STRUCTURE_H
#define STRIDE_HARNESS_STRUCTURE_H

#include "harness/base/labfile.h"

#include <jansson.h>

/* An entry of the record's `structure`; NULL when `metrics` (stride-host's, docs/host-labs.md) does
 * not have its metric. */
json_t *structure_json(const struct lab_structure *entry, const json_t *metrics);

/* Goes on with the sentence of a run that passes: "passes all 5 cases" and, for an entry that is
 * not ok, ", but overlap is 0.31, at least 0.5 is wanted". `misses` is how many of them it tells
 * already; what has no room is cut. */
void structure_add_miss(char *summary, size_t size, const json_t *entry, unsigned misses);

#endif
