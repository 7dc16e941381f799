#include "lab.h"

// While a slab is loading nobody multiplies. Load the next one meanwhile.
extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    // A's slab stands as in memory: an asynchronous copy cannot transpose.
    __shared__ alignas(16) float slabA[kTileM][kSlabK + 4];
    __shared__ alignas(16) float slabB[kSlabK][kTileN];

    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const size_t row0 = blockIdx.y * kTileM, col0 = blockIdx.x * kTileN;

    float sum[8][4] = {}; // rows 8 ty..., columns 4 tx...
    for (int k0 = 0; k0 < k; k0 += kSlabK) {
        for (int i = threadIdx.x; i < kTileM * kSlabK / 4; i += kThreads) {
            const int r = i / (kSlabK / 4), q = i % (kSlabK / 4) * 4;
            store4(&slabA[r][q], load4(&a[(row0 + r) * k + k0 + q]));
        }
        const int r = threadIdx.x / (kTileN / 4);
        const int q = threadIdx.x % (kTileN / 4) * 4;
        store4(&slabB[r][q], load4(&b[(size_t)(k0 + r) * n + col0 + q]));
        __syncthreads(); // the slabs are there

#pragma unroll
        for (int i = 0; i < kSlabK; i += 4) {
            float x[8][4],
                y[4][4]; // 48 floats loaded for 128 multiply-adds
#pragma unroll
            for (int r = 0; r < 8; ++r)
                store4(x[r], load4(&slabA[8 * ty + r][i]));
#pragma unroll
            for (int j = 0; j < 4; ++j)
                store4(y[j], load4(&slabB[i + j][4 * tx]));
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int r = 0; r < 8; ++r)
#pragma unroll
                    for (int q = 0; q < 4; ++q)
                        sum[r][q] += x[r][j] * y[j][q];
        }
        __syncthreads(); // nobody needs the slabs any more
    }

    for (int r = 0; r < 8; ++r)
        store4(&c[(row0 + 8 * ty + r) * n + col0 + 4 * tx], load4(sum[r]));
    // <<< your code
}
