// What the lesson asks you to try: ordinary loads, rounding on the way.
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
    constexpr int kSlab = 32; // half as many barriers
    __shared__ alignas(128) float slabA[kTileM][kSlab + 4];
    __shared__ alignas(128) float slabB[kSlab][kTileN + 8];

    // Eight warps, four down and two across, each makes 32 x 32 of the
    // tile.
    const int warp = threadIdx.x / 32;
    const int row = warp / 2 * 32, col = warp % 2 * 32;
    const size_t row0 = blockIdx.y * kTileM, col0 = blockIdx.x * kTileN;

    // Where this thread fills the slabs and where it reads from: made once,
    // so that the loop only has to step on. It loads four numbers of every
    // kRowsA-th row of A's slab and of every kRowsB-th of B's.
    constexpr int kRowsA = kThreads / (kSlab / 4);
    constexpr int kRowsB = kThreads / (kTileN / 4);
    const int rowA = threadIdx.x / (kSlab / 4);
    const int colA = threadIdx.x % (kSlab / 4) * 4;
    const int rowB = threadIdx.x / (kTileN / 4);
    const int colB = threadIdx.x % (kTileN / 4) * 4;
    const float *fromA = &a[(row0 + rowA) * k + colA];
    const float *fromB = &b[(size_t)rowB * n + col0 + colB];

    // Four floats on their way from global into shared memory: they are in
    // registers now, and are rounded once for all who will use them.
    auto rounded = [](const float *from) {
        const float4 v = load4(from);
        return make_float4(
            wmma::__float_to_tf32(v.x), wmma::__float_to_tf32(v.y),
            wmma::__float_to_tf32(v.z), wmma::__float_to_tf32(v.w));
    };

    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[2][2];
    for (int r = 0; r < 2; ++r)
        for (int q = 0; q < 2; ++q)
            wmma::fill_fragment(sum[r][q], 0.0f);

    for (int k0 = 0; k0 < k; k0 += kSlab) {
#pragma unroll
        for (int j = 0; j < kTileM / kRowsA; ++j)
            store4(&slabA[rowA + j * kRowsA][colA],
                   rounded(fromA + (size_t)j * kRowsA * k));
#pragma unroll
        for (int j = 0; j < kSlab / kRowsB; ++j)
            store4(&slabB[rowB + j * kRowsB][colB],
                   rounded(fromB + (size_t)j * kRowsB * n));
        fromA += kSlab; // the next slab's
        fromB += (size_t)kSlab * n;
        __syncthreads(); // the slabs are there

#pragma unroll
        for (int i = 0; i < kSlab; i += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, tf32, wmma::row_major>
                x[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 8, tf32, wmma::row_major>
                y[2];
#pragma unroll
            for (int f = 0; f < 2; ++f) {
                loadFragment(x[f], &slabA[row + 16 * f][i], kSlab + 4);
                loadFragment(y[f], &slabB[i][col + 16 * f], kTileN + 8);
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
