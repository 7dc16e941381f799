// 16 x 16 x 32 in TF32: once converted, once cut.
// launch: grid=1 block=64
// in: 1024 f32
// out: 512 f32 near 1e-5
#include <mma.h>
extern "C" __global__ void k(float *out, const float *in)
{
    using namespace nvcuda;
    int which = threadIdx.x / 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k0 = 0; k0 < 32; k0 += 8) {
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> y;
        wmma::load_matrix_sync(x, in + k0, 32);
        wmma::load_matrix_sync(y, in + 512 + k0 * 16, 16);
        for (int i = 0; i < x.num_elements; i++) {
            float odd = x.x[i] * 1.0004883f; // 1 + 2^-11: a tie for TF32
            x.x[i] = which ? odd : wmma::__float_to_tf32(odd);
        }
        wmma::mma_sync(sum, x, y, sum);
    }
    wmma::store_matrix_sync(out + which * 256, sum, 16, wmma::mem_col_major);
}
