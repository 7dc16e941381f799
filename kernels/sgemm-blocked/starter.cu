#include "lab.h"

// Each thread makes one element of C at a time and loads two floats from
// shared memory for every multiply-add. Let it make more, and load less.
extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    __shared__ float tileA[16][16], tileB[16][16];

    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;

    // The block's 128 x 64 tile of C as 32 small ones, one element per
    // thread.
#pragma unroll 1
    for (int part = 0; part < 32; ++part) {
        const size_t row = blockIdx.y * kTileM + part / 4 * 16 + ty;
        const size_t col = blockIdx.x * kTileN + part % 4 * 16 + tx;

        float sum = 0.0f;
        for (int k0 = 0; k0 < k; k0 += 16) {
            tileA[ty][tx] = a[row * k + k0 + tx];
            tileB[ty][tx] = b[(size_t)(k0 + ty) * n + col];
            __syncthreads(); // both tiles are there

            for (int i = 0; i < 16; ++i)
                sum += tileA[ty][i] * tileB[i][tx];
            __syncthreads(); // nobody needs them any more
        }
        c[row * n + col] = sum;
    }
    // <<< your code
}
