/* The lab sgemm-blocked-async for the harness: whole numbers, so that the answer is exact. */
#include "harness/gemm.h"

static const struct gemm gemm = {.threads = 256, .inputs = GEMM_EXACT};

GEMM_LAB(lab_sgemm_blocked_async, "sgemm-blocked-async", gemm,
         LAB_PEER_SGEMM)
