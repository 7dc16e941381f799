// verdict: hazard
// The next slab lands on the one that is being multiplied.
// verdict-gpu: wrong, pass (the copy may come late enough by luck)
#include "lab.h"

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    // A's slabs stand as in memory: an asynchronous copy cannot transpose.
    __shared__ alignas(16) float slabA[2][kTileM][kSlabK + 4];
    __shared__ alignas(16) float slabB[2][kSlabK][kTileN];

    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const size_t row0 = blockIdx.y * kTileM, col0 = blockIdx.x * kTileN;

    // Starts this thread's part of the slabs that begin at k0, as one group.
    auto stage = [&](int buffer, int k0) {
        auto copy16 = [](float *to, const float *from) {
            const unsigned shared =
                static_cast<unsigned>(__cvta_generic_to_shared(to));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                         :
                         : "r"(shared), "l"(__cvta_generic_to_global(from))
                         : "memory");
        };
        for (int i = threadIdx.x; i < kTileM * kSlabK / 4; i += kThreads) {
            const int r = i / (kSlabK / 4), q = i % (kSlabK / 4) * 4;
            copy16(&slabA[buffer][r][q], &a[(row0 + r) * k + k0 + q]);
        }
        const int r = threadIdx.x / (kTileN / 4);
        const int q = threadIdx.x % (kTileN / 4) * 4;
        copy16(&slabB[buffer][r][q], &b[(size_t)(k0 + r) * n + col0 + q]);
        asm volatile("cp.async.commit_group;\n" ::: "memory");
    };

    float sum[8][4] = {}; // rows 8 ty..., columns 4 tx...
    stage(0, 0);
    for (int k0 = 0, buffer = 0; k0 < k; k0 += kSlabK, buffer ^= 0) {
        if (k0 + kSlabK < k) {
            stage(buffer, k0 + kSlabK);
            asm volatile("cp.async.wait_group 1;\n" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;\n" ::: "memory");
        }
        __syncthreads(); // everyone's part of this slab is here

#pragma unroll
        for (int i = 0; i < kSlabK; i += 4) {
            float x[8][4],
                y[4][4]; // 48 floats loaded for 128 multiply-adds
#pragma unroll
            for (int r = 0; r < 8; ++r)
                store4(x[r], load4(&slabA[buffer][8 * ty + r][i]));
#pragma unroll
            for (int j = 0; j < 4; ++j)
                store4(y[j], load4(&slabB[buffer][i + j][4 * tx]));
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int r = 0; r < 8; ++r)
#pragma unroll
                    for (int q = 0; q < 4; ++q)
                        sum[r][q] += x[r][j] * y[j][q];
        }
        __syncthreads(); // the slab after next may land in this buffer now
    }

    for (int r = 0; r < 8; ++r)
        store4(&c[(row0 + 8 * ty + r) * n + col0 + 4 * tx], load4(sum[r]));
    // <<< your code
}
