// expect: race-read-after-write line 8/7
// launch: block=64
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    out[i] = s[63 - t];
}
