/* What the student calls a piece of memory: the variable that an allocation in a line of kernel.cu
 * fills, read from the source itself.
 *
 * The text is loaded once, beside the table of lines, and lives until the program ends.
 *
 * It looks at one call and understands no C++: what is not a plain variable, member or element has
 * no name. */
#ifndef STRIDE_HOST_NAMES_H
#define STRIDE_HOST_NAMES_H

#include "harness/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads kernel.cu. */
bool names_load(const char *source, struct err *err);

/* "work->input" of cudaMallocHost(&work->input, bytes) in this line, or in a call that begins here.
 * False when there is none. */
bool names_find(int line, char *out, size_t size);

#endif
