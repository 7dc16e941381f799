// verdict: fault
// Shifts the source of A by one float: 16-byte copies need multiples of 16.
#include "lab.h"

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    // A copy needs no register for data under way, so a slab may be deeper.
    constexpr int kSlab = 32;

    // A's slabs stand as in memory: an asynchronous copy cannot transpose.
    // Two of each are 48 KiB, all that may be declared: no room to pad.
    __shared__ alignas(16) float slabA[2][kTileM][kSlab];
    __shared__ alignas(16) float slabB[2][kSlab][kTileN];

    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const size_t row0 = blockIdx.y * kTileM, col0 = blockIdx.x * kTileN;

    // Where this thread copies from and to, made once: four numbers of each
    // kRowsA-th row of A's slab, and of each kRowsB-th of B's.
    constexpr int kRowsA = kThreads / (kSlab / 4);
    constexpr int kRowsB = kThreads / (kTileN / 4);
    const int rowA = threadIdx.x / (kSlab / 4);
    const int colA = threadIdx.x % (kSlab / 4) * 4;
    const int rowB = threadIdx.x / (kTileN / 4);
    const int colB = threadIdx.x % (kTileN / 4) * 4;
    const float *fromA = &a[(row0 + rowA) * k + colA + 1];
    const float *fromB = &b[(size_t)rowB * n + col0 + colB];

    // Starts this thread's part of the next slabs and steps on.
    auto stage = [&](int buffer) {
        auto copy16 = [](float *to, const float *from) {
            const unsigned shared =
                static_cast<unsigned>(__cvta_generic_to_shared(to));
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                         :
                         : "r"(shared), "l"(__cvta_generic_to_global(from))
                         : "memory");
        };
#pragma unroll
        for (int j = 0; j < kTileM / kRowsA; ++j)
            copy16(&slabA[buffer][rowA + j * kRowsA][colA],
                   fromA + (size_t)j * kRowsA * k);
#pragma unroll
        for (int j = 0; j < kSlab / kRowsB; ++j)
            copy16(&slabB[buffer][rowB + j * kRowsB][colB],
                   fromB + (size_t)j * kRowsB * n);
        fromA += kSlab;
        fromB += (size_t)kSlab * n;
    };

    float sum[8][4] = {}; // rows ty, ty + 16..., columns 4 tx...
    stage(0);
    for (int k0 = 0, buffer = 0; k0 < k; k0 += kSlab, buffer ^= 1) {
        asm volatile("cp.async.wait_all;\n" ::: "memory");
        __syncthreads(); // this slab is here, nobody needs the last one

        if (k0 + kSlab < k)
            stage(buffer ^ 1); // on its way while this one is multiplied

#pragma unroll
        for (int i = 0; i < kSlab; i += 4) {
            float x[8][4], y[4][4]; // 48 floats for 128 multiply-adds
#pragma unroll
            for (int r = 0; r < 8; ++r)
                store4(x[r], load4(&slabA[buffer][ty + 16 * r][i]));
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
    }

    for (int r = 0; r < 8; ++r)
        store4(&c[(row0 + ty + 16 * r) * n + col0 + 4 * tx], load4(sum[r]));
    // <<< your code
}
