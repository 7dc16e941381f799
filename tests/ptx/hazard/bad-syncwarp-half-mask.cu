// expect: lockstep line 10/8
// launch: block=32
// Groups of 16 lanes meet, but read across.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = in[i];
    __syncwarp(t < 16 ? 0xffffu : 0xffff0000u);
    out[i] = s[31 - t];
}
