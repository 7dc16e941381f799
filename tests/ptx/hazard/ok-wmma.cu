// expect: clean
// launch: block=64
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(32) __half a[2][16 * 16], b[16 * 16];
    __shared__ __align__(32) float c[2][16 * 16];
    int t = threadIdx.x, warp = t / 32;
    for (int i = t; i < 256; i += 64) {
        a[0][i] = __float2half(in[i]);
        a[1][i] = __float2half(in[256 + i]);
        b[i] = __float2half(in[512 + i]);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    wmma::load_matrix_sync(fa, a[warp], 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c[warp], fc, 16, wmma::mem_row_major);
    __syncthreads();
    for (int i = t; i < 512; i += 64)
        out[blockIdx.x * 512 + i] = c[0][i];
}
