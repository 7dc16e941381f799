// expect: not-published line 35
// launch: block=32
// Double-buffered half tiles in flight while the fragments of the other one are multiplied.
#include <mma.h>
using namespace nvcuda;
__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
}
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n)  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(32) __half a[2][256], b[2][256];
    __shared__ __align__(32) float c[256];
    int t = threadIdx.x;
    const __half *source = (const __half *)in;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    copy16(&a[0][8 * t], source + 8 * t);
    copy16(&b[0][8 * t], source + 1024 + 8 * t);
    COMMIT();
    for (int k = 0; k < 4; k++) {
        if (k < 3) {
            copy16(&a[(k + 1) & 1][8 * t], source + (k + 1) * 256 + 8 * t);
            copy16(&b[(k + 1) & 1][8 * t], source + 1024 + (k + 1) * 256 + 8 * t);
        }
        COMMIT();
        WAIT(1);
        // no __syncwarp() here
        wmma::load_matrix_sync(fa, a[k & 1], 16);
        wmma::load_matrix_sync(fb, b[k & 1], 16);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncwarp();
    }
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = t; i < 256; i += 32)
        out[blockIdx.x * 256 + i] = c[i];
}
