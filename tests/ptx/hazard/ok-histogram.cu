// expect: clean
// launch: grid=4 block=128 out=zero
// Shared atomics between two barriers, then global ones.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ unsigned bins[64];
    int t = threadIdx.x;
    if (t < 64)
        bins[t] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        atomicAdd(&bins[(int)in[blockIdx.x * 128 + t + k] & 63], 1u);
    __syncthreads();
    if (t < 64)
        atomicAdd((unsigned *)out + t, bins[t]);
}
