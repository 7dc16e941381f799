// expect: absent-lane line 7
// launch: block=48
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * 48 + threadIdx.x;
    float v = in[i];
    v += __shfl_down_sync(0xffffffffu, v, 8);
    out[i] = v;
}
