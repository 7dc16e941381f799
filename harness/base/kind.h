/* Kinds of hazards and faults by name, as records and hints have them.
 *
 * Static strings; nothing is owned.
 *
 * It does not know what a kind means, and not which lab can show it. */
#ifndef STRIDE_BASE_KIND_H
#define STRIDE_BASE_KIND_H

#include <stdbool.h>

/* The name of kind number i, from 0; NULL behind the last. */
const char *kind_name(unsigned i);

bool kind_is_known(const char *name);

#endif
