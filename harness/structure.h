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

/* "overlap: at least 0.5, and it was 0.1" for entries that are not ok; else "". */
void structure_describe(char *out, size_t len, const json_t *entry);

#endif
