// expect: race-write-after-write line 7/7
// launch: block=32
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[16];
    int t = threadIdx.x;
    s[t & 15] = in[blockIdx.x * 32 + t];
    __syncwarp();
    out[blockIdx.x * 32 + t] = s[15 - (t & 15)];
}
