// expect: absent-lane line 7
// launch: block=32
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    float v = in[i];
    v += __shfl_down_sync(0x0000ffffu, v, 8);
    out[i] = v;
}
