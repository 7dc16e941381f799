// verdict: hazard
// The next slab lands on the one that is being multiplied.
// verdict-gpu: wrong, pass (the copy may come late enough by luck)
#include "lab.h"

#include <mma.h>

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    using namespace nvcuda;
    using tf32 = wmma::precision::tf32;
    __shared__ alignas(128) float slabA[2][kTileM][kSlabK + 4];
    __shared__ alignas(128) float slabB[2][kSlabK][kTileN + 4];

    // Eight warps, four down and two across, each makes 32 x 32 of the tile.
    const int warp = threadIdx.x / 32;
    const int row = warp / 2 * 32, col = warp % 2 * 32;
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

    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[2][2];
    for (int r = 0; r < 2; ++r)
        for (int q = 0; q < 2; ++q)
            wmma::fill_fragment(sum[r][q], 0.0f);

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
        for (int i = 0; i < kSlabK; i += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, tf32, wmma::row_major>
                x[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 8, tf32, wmma::row_major>
                y[2];
#pragma unroll
            for (int f = 0; f < 2; ++f) {
                wmma::load_matrix_sync(
                    x[f], &slabA[buffer][row + 16 * f][i], kSlabK + 4);
                wmma::load_matrix_sync(
                    y[f], &slabB[buffer][i][col + 16 * f], kTileN + 4);
                for (int e = 0; e < x[f].num_elements; ++e)
                    x[f].x[e] = wmma::__float_to_tf32(x[f].x[e]);
                for (int e = 0; e < y[f].num_elements; ++e)
                    y[f].x[e] = wmma::__float_to_tf32(y[f].x[e]);
            }
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int q = 0; q < 2; ++q)
                    wmma::mma_sync(sum[r][q], x[r], y[q], sum[r][q]);
        }
        __syncthreads(); // the slab after next may land in this buffer now
    }

    for (int r = 0; r < 2; ++r)
        for (int q = 0; q < 2; ++q)
            wmma::store_matrix_sync(
                &c[(row0 + row + 16 * r) * n + col0 + col + 16 * q],
                sum[r][q], n, wmma::mem_row_major);
    // <<< your code
}
