/* The same shape and loadFragment() as in sgemm-wmma: read it there, or in Stride's copy. */
#ifndef STRIDE_LAB_SGEMM_WMMA_ASYNC_H
#define STRIDE_LAB_SGEMM_WMMA_ASYNC_H

#include "../sgemm-wmma/lab.h"

#endif
