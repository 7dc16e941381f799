// verdict: fault
// A row of 129 floats puts most 16-byte loads at addresses that are no multiple of 16.
#include "lab.h"

extern "C" __global__ void __launch_bounds__(kThreads)
sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    // A's slab stands transposed, so that the eight rows of a thread lie side by
    // side; four floats of padding spread the stores over the banks.
    __shared__ alignas(16) float slabA[kSlabK][kTileM + 1];
    __shared__ alignas(16) float slabB[kSlabK][kTileN];

    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const size_t row0 = blockIdx.y * kTileM, col0 = blockIdx.x * kTileN;

    float sum[8][4] = {}; // rows 8 ty..., columns 4 tx...
    for (int k0 = 0; k0 < k; k0 += kSlabK) {
        for (int i = threadIdx.x; i < kTileM * kSlabK / 4; i += kThreads) {
            const int r = i / (kSlabK / 4), q = i % (kSlabK / 4) * 4;
            const float4 v = *reinterpret_cast<const float4 *>(&a[(row0 + r) * k + k0 + q]);
            slabA[q + 0][r] = v.x;
            slabA[q + 1][r] = v.y;
            slabA[q + 2][r] = v.z;
            slabA[q + 3][r] = v.w;
        }
        {
            const int r = threadIdx.x / (kTileN / 4), q = threadIdx.x % (kTileN / 4) * 4;
            *reinterpret_cast<float4 *>(&slabB[r][q]) =
                *reinterpret_cast<const float4 *>(&b[(size_t)(k0 + r) * n + col0 + q]);
        }
        __syncthreads(); // the slabs are there

#pragma unroll
        for (int i = 0; i < kSlabK; ++i) {
            float x[8], y[4]; // 12 floats loaded for 32 multiply-adds
            *reinterpret_cast<float4 *>(&x[0]) = *reinterpret_cast<float4 *>(&slabA[i][8 * ty]);
            *reinterpret_cast<float4 *>(&x[4]) = *reinterpret_cast<float4 *>(&slabA[i][8 * ty + 4]);
            *reinterpret_cast<float4 *>(&y[0]) = *reinterpret_cast<float4 *>(&slabB[i][4 * tx]);
#pragma unroll
            for (int r = 0; r < 8; ++r)
#pragma unroll
                for (int q = 0; q < 4; ++q)
                    sum[r][q] += x[r] * y[q];
        }
        __syncthreads(); // nobody needs the slabs any more
    }

    for (int r = 0; r < 8; ++r)
        *reinterpret_cast<float4 *>(&c[(row0 + 8 * ty + r) * n + col0 + 4 * tx]) =
            make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
    // <<< your code
}
