#include "lab.h"

// What your kernel is measured against: register-blocked, FP32 units.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    // A's slab stands transposed, so that a thread's eight rows lie side by
    // side; four floats of padding spread the stores over the banks.
    __shared__ alignas(16) float slabA[kSlabK][kTileM + 4];
    __shared__ alignas(16) float slabB[kSlabK][kTileN];

    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const size_t row0 = blockIdx.y * kTileM, col0 = blockIdx.x * kTileN;

    // Where this thread fills the slabs and where it reads from: made once,
    // so that the loop only steps on. It loads four numbers of two rows of
    // A's slab, kRowsA apart, and four numbers of one row of B's.
    constexpr int kRowsA = kThreads / (kSlabK / 4);
    const int rowA = threadIdx.x / (kSlabK / 4);
    const int colA = threadIdx.x % (kSlabK / 4) * 4;
    const int rowB = threadIdx.x / (kTileN / 4);
    const int colB = threadIdx.x % (kTileN / 4) * 4;
    const float *fromA = &a[(row0 + rowA) * k + colA];
    const float *fromB = &b[(size_t)rowB * n + col0 + colB];

    float sum[8][4] = {}; // rows 8 ty..., columns 4 tx...
    for (int k0 = 0; k0 < k; k0 += kSlabK) {
#pragma unroll
        for (int j = 0; j < kTileM / kRowsA; ++j) { // a known trip count
            const int r = rowA + j * kRowsA;
            const float4 v = load4(fromA + (size_t)j * kRowsA * k);
            slabA[colA + 0][r] = v.x;
            slabA[colA + 1][r] = v.y;
            slabA[colA + 2][r] = v.z;
            slabA[colA + 3][r] = v.w;
        }
        store4(&slabB[rowB][colB], load4(fromB));
        fromA += kSlabK; // the next slab's
        fromB += (size_t)kSlabK * n;
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
