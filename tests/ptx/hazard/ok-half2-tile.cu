// expect: clean
// launch: block=64
#include <cuda_fp16.h>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __half tile[32][34];
    int t = threadIdx.x;
    for (int k = 0; k < 16; k++) {
        int j = k * 64 + t;
        tile[j / 32][j % 32] = __float2half(in[blockIdx.x * 1024 + j]);
    }
    __syncthreads();
    __half2 sum = __float2half2_rn(0.f);
    for (int k = 0; k < 16; k++)
        sum = __hadd2(sum, *(__half2 *)&tile[t & 31][2 * k]);
    out[blockIdx.x * 64 + t] = __low2float(sum) + __high2float(sum);
}
