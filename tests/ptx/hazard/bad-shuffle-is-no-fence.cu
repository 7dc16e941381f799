// expect: lockstep line 10/8
// launch: block=32
// A shuffle makes lanes meet, but orders no memory.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = in[i];
    float v = __shfl_xor_sync(0xffffffffu, in[i], 1);
    out[i] = v + s[31 - t];
}
