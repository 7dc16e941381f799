/* What a kernel takes of a multiprocessor: the record's `resources`.
 *
 * The JSON is the caller's.
 *
 * It asks the driver where there is one and computes from the machine code where there is none. */
#ifndef STRIDE_HARNESS_RESOURCES_H
#define STRIDE_HARNESS_RESOURCES_H

#include "warm.h"

#include <jansson.h>

/* The `resources` object of the lab's kernel in this build; NULL when nothing is known. */
json_t *resources_find(const struct warm *warm, const struct build *build);

#endif
