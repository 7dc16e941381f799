// expect: race-write-after-write line 7/7
// launch: block=64
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t & 31] = in[blockIdx.x * 64 + t];
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[31 - (t & 31)];
}
