// expect: clean
// launch: block=64
#include <cuda_pipeline.h>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[2][256];
    int t = threadIdx.x;
    const float *tile = in + blockIdx.x * 1024;
    float v = 0;
    __pipeline_memcpy_async(&s[0][4 * t], tile + 4 * t, 16);
    __pipeline_commit();
    for (int k = 0; k < 4; k++) {
        if (k + 1 < 4)
            __pipeline_memcpy_async(&s[(k + 1) & 1][4 * t], tile + (k + 1) * 256 + 4 * t, 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        v += s[k & 1][(4 * t + 9) & 255];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = v;
}
