// 32 x 32 x 32 in halves with wmma, both layouts; the values are exact in every order.
// launch: grid=1 block=128
// in: 2048 f32
// out: 1024 f32 near 1e-5
#include <mma.h>
extern "C" __global__ void k(float *out, const float *in)
{
    using namespace nvcuda;
    __shared__ alignas(128) half a[32][40], b[32][40];
    for (int i = threadIdx.x; i < 1024; i += 128) {
        a[i / 32][i % 32] = __float2half(in[i]);
        b[i % 32][i / 32] = __float2half(in[1024 + i]);
    }
    __syncthreads();
    int row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.5f);
    for (int k0 = 0; k0 < 32; k0 += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
        wmma::load_matrix_sync(x, &a[row][k0], 40);
        wmma::load_matrix_sync(y, &b[column][k0], 40);
        wmma::mma_sync(sum, x, y, sum);
    }
    wmma::store_matrix_sync(&out[row * 32 + column], sum, 32, wmma::mem_row_major);
}
