/* The same shape as in sgemm-blocked: read it there, or in Stride's copy. */
#ifndef STRIDE_LAB_SGEMM_WMMA_H
#define STRIDE_LAB_SGEMM_WMMA_H

#include "../sgemm-blocked/lab.h"

#endif
