/* The lab sgemm-blocked for the harness: whole numbers, so that the answer is exact. */
#include "harness/gemm.h"

static const struct gemm gemm = {.threads = 256, .inputs = GEMM_EXACT};

GEMM_LAB(lab_sgemm_blocked, "sgemm-blocked", gemm, LAB_PEER_SGEMM)
