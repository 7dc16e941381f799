/* What the interpreter found and counted in a kernel, in the record's words (docs/record.md): the
 * part that is the same for a kernel lab's launch and for one of a host lab's.
 *
 * JSON that is returned belongs to the caller; results are borrowed.
 *
 * It knows no source file: lines are the caller's to add. */
#ifndef STRIDE_HOST_KERNEL_JSON_H
#define STRIDE_HOST_KERNEL_JSON_H

#include "harness/ptx/ptx.h"

#include <jansson.h>

/* A fault's kind, a static string. */
const char *kernel_json_fault(enum ptx_fault fault);

/* Adds where a hazard was found: `block`, `threads` (their numbers in a block of that size), and
 * `array` and `index` as far as they are known. */
void kernel_json_add_place(json_t *object, const struct ptx_hazard *hazard,
                           const uint32_t block[3]);

/* The record's `counters`, all but what is counted by line. */
json_t *kernel_json_counters(const struct ptx_counters *counters);

#endif
