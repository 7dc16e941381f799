/* The lab sgemm-wmma-async for the harness: numbers that TF32 has to round. */
#include "harness/gemm.h"

static const struct gemm gemm = {.threads = 256, .inputs = GEMM_TF32};

GEMM_LAB(lab_sgemm_wmma_async, "sgemm-wmma-async", gemm, LAB_PEER_TF32_GEMM)
