#include "lab.h"

#include <mma.h>

// The Tensor Cores finish a slab quickly and then wait for the next. Load
// it while they work.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    using namespace nvcuda;
    using tf32 = wmma::precision::tf32;
    __shared__ alignas(128) float slabA[2][kTileM][kSlabK + 4];
    __shared__ alignas(128) float slabB[2][kSlabK][kTileN + 8];

    // Eight warps, four down and two across, each makes 32 x 32 of the
    // tile.
    const int warp = threadIdx.x / 32;
    const int row = warp / 2 * 32, col = warp % 2 * 32;
    const size_t row0 = blockIdx.y * kTileM, col0 = blockIdx.x * kTileN;

    // Where this thread fills the slabs and where it reads from: made once,
    // so that the loop only has to step on. It loads four numbers of two
    // rows of A's slab, kRowsA apart, and four of one row of B's.
    constexpr int kRowsA = kThreads / (kSlabK / 4);
    const int rowA = threadIdx.x / (kSlabK / 4);
    const int colA = threadIdx.x % (kSlabK / 4) * 4;
    const int rowB = threadIdx.x / (kTileN / 4);
    const int colB = threadIdx.x % (kTileN / 4) * 4;
    const float *fromA = &a[(row0 + rowA) * k + colA];
    const float *fromB = &b[(size_t)rowB * n + col0 + colB];

    // Starts this thread's part of the next slabs, as one group, and steps
    // on.
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
        copy16(&slabB[buffer][rowB][colB], fromB);
        asm volatile("cp.async.commit_group;\n" ::: "memory");
        fromA += kSlabK;
        fromB += (size_t)kSlabK * n;
    };

    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[2][2];
    for (int r = 0; r < 2; ++r)
        for (int q = 0; q < 2; ++q)
            wmma::fill_fragment(sum[r][q], 0.0f);

    // Multiplies the slabs in one buffer while the next fill the other.
    auto step = [&](int buffer, bool last) {
        if (last) {
            asm volatile("cp.async.wait_group 0;\n" ::: "memory");
        } else {
            stage(buffer ^ 1);
            asm volatile("cp.async.wait_group 1;\n" ::: "memory");
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
                loadFragment(x[f], &slabA[buffer][row + 16 * f][i],
                             kSlabK + 4);
                loadFragment(y[f], &slabB[buffer][i][col + 16 * f],
                             kTileN + 8);
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
    };

    stage(0);
    for (int k0 = 0; k0 < k; k0 += 2 * kSlabK) {
        step(0, false); // two in a turn: each buffer's place is a constant
        step(1, k0 + 2 * kSlabK == k);
    }

    for (int r = 0; r < 2; ++r)
        for (int q = 0; q < 2; ++q)
            wmma::store_matrix_sync(
                &c[(row0 + row + 16 * r) * n + col0 + col + 16 * q],
                sum[r][q], n, wmma::mem_row_major);
    // <<< your code
}
