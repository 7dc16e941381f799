// expect: global-race line 5/5
// launch: grid=2 block=32
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    out[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
}
