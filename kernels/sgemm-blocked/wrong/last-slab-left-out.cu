// verdict: wrong
// The loop over k ends one slab early.
#include "lab.h"

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    // A's slab stands transposed, so that a thread's eight rows lie side by
    // side; four floats of padding spread the stores over the banks.
    __shared__ alignas(16) float slabA[kSlabK][kTileM + 4];
    __shared__ alignas(16) float slabB[kSlabK][kTileN];

    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const size_t row0 = blockIdx.y * kTileM, col0 = blockIdx.x * kTileN;

    float sum[8][4] = {}; // rows 8 ty..., columns 4 tx...
    for (int k0 = 0; k0 + kSlabK < k; k0 += kSlabK) {
        for (int i = threadIdx.x; i < kTileM * kSlabK / 4; i += kThreads) {
            const int r = i / (kSlabK / 4), q = i % (kSlabK / 4) * 4;
            const float4 v = load4(&a[(row0 + r) * k + k0 + q]);
            slabA[q + 0][r] = v.x;
            slabA[q + 1][r] = v.y;
            slabA[q + 2][r] = v.z;
            slabA[q + 3][r] = v.w;
        }
        {
            const int r = threadIdx.x / (kTileN / 4);
            const int q = threadIdx.x % (kTileN / 4) * 4;
            store4(&slabB[r][q],
                   load4(&b[(size_t)(k0 + r) * n + col0 + q]));
        }
        __syncthreads(); // the slabs are there

#pragma unroll
        for (int i = 0; i < kSlabK; ++i) {
            float x[8], y[4]; // 12 floats loaded for 32 multiply-adds
            store4(&x[0], load4(&slabA[i][8 * ty]));
            store4(&x[4], load4(&slabA[i][8 * ty + 4]));
            store4(&y[0], load4(&slabB[i][4 * tx]));
#pragma unroll
            for (int r = 0; r < 8; ++r)
#pragma unroll
                for (int q = 0; q < 4; ++q)
                    sum[r][q] += x[r] * y[q];
        }
        __syncthreads(); // nobody needs the slabs any more
    }

    for (int r = 0; r < 8; ++r)
        store4(&c[(row0 + 8 * ty + r) * n + col0 + 4 * tx], load4(sum[r]));
    // <<< your code
}
