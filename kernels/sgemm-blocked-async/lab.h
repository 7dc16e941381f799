/* The same shape as in sgemm-blocked: read it there, or in Stride's copy. */
#ifndef STRIDE_LAB_SGEMM_BLOCKED_ASYNC_H
#define STRIDE_LAB_SGEMM_BLOCKED_ASYNC_H

#include "../sgemm-blocked/lab.h"

#endif
