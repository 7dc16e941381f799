// expect: race-write-after-write line 9/8
// launch: block=128
// also: lockstep uninitialised
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ unsigned bins[128];
    int t = threadIdx.x;
    bins[t] = 0;
    atomicAdd(&bins[(int)in[blockIdx.x * 128 + t] & 127], 1u);
    __syncthreads();
    out[blockIdx.x * 128 + t] = bins[t];
}
