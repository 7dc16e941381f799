/* The same shape and loadFragment() as in sgemm-wmma: see ../sgemm-wmma/lab.h. */
#ifndef STRIDE_LAB_SGEMM_WMMA_ASYNC_H
#define STRIDE_LAB_SGEMM_WMMA_ASYNC_H

#include "../sgemm-wmma/lab.h"

#endif
