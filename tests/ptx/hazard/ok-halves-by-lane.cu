// expect: clean
// launch: block=64
// Half floats: written one by one, read in pairs, overwritten one by one.
#include <cuda_fp16.h>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __half a[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    for (int k = 0; k < 3; k++) {
        a[t] = __float2half(in[i + k]);
        __syncthreads();
        __half2 p = ((__half2 *)a)[t & 31];
        __syncthreads();
        out[i] = __low2float(p) + __high2float(p);
    }
}
