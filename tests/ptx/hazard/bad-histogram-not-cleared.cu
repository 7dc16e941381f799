// expect: uninitialised line 7
// launch: block=128
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ unsigned bins[64];
    int t = threadIdx.x;
    atomicAdd(&bins[t & 63], 1u);
    __syncthreads();
    if (t < 64)
        out[blockIdx.x * 64 + t] = bins[t];
}
