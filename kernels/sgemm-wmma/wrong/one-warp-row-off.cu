// verdict: hazard
// The lower warps make the rows of the upper ones again.
// verdict-gpu: wrong
#include "lab.h"

#include <mma.h>

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    // >>> your code
    using namespace nvcuda;
    using tf32 = wmma::precision::tf32;
    __shared__ alignas(128) float slabA[kTileM][kSlabK + 4];
    __shared__ alignas(128) float slabB[kSlabK][kTileN + 8];

    // Eight warps, four down and two across, each makes 32 x 32 of the
    // tile.
    const int warp = threadIdx.x / 32;
    const int row = warp / 2 % 2 * 32, col = warp % 2 * 32;
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

    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[2][2];
    for (int r = 0; r < 2; ++r)
        for (int q = 0; q < 2; ++q)
            wmma::fill_fragment(sum[r][q], 0.0f);

    for (int k0 = 0; k0 < k; k0 += kSlabK) {
#pragma unroll
        for (int j = 0; j < kTileM / kRowsA; ++j)
            store4(&slabA[rowA + j * kRowsA][colA],
                   load4(fromA + (size_t)j * kRowsA * k));
        store4(&slabB[rowB][colB], load4(fromB));
        fromA += kSlabK; // the next slab's
        fromB += (size_t)kSlabK * n;
        __syncthreads(); // the slabs are there

#pragma unroll
        for (int i = 0; i < kSlabK; i += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, tf32, wmma::row_major>
                x[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 8, tf32, wmma::row_major>
                y[2];
#pragma unroll
            for (int f = 0; f < 2; ++f) {
                loadFragment(x[f], &slabA[row + 16 * f][i], kSlabK + 4);
                loadFragment(y[f], &slabB[i][col + 16 * f], kTileN + 8);
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
        __syncthreads(); // nobody needs the slabs any more
    }

    for (int r = 0; r < 2; ++r)
        for (int q = 0; q < 2; ++q)
            wmma::store_matrix_sync(
                &c[(row0 + row + 16 * r) * n + col0 + col + 16 * q],
                sum[r][q], n, wmma::mem_row_major);
    // <<< your code
}
