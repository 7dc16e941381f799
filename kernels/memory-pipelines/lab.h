/* What the lab gives you: the same tiles, the same arithmetic and so the same
 * right answers as in cp-async. Only the way of writing it differs.
 *
 * output[i] must become asyncTransform(input[i]) for every i. */
#ifndef STRIDE_LAB_MEMORY_PIPELINES_H
#define STRIDE_LAB_MEMORY_PIPELINES_H

#include "../cp-async/lab.h"

#endif
