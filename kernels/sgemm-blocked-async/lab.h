/* The same shape as in sgemm-blocked: see ../sgemm-blocked/lab.h. */
#ifndef STRIDE_LAB_SGEMM_BLOCKED_ASYNC_H
#define STRIDE_LAB_SGEMM_BLOCKED_ASYNC_H

#include "../sgemm-blocked/lab.h"

#endif
