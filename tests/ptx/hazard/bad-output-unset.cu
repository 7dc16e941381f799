// expect: uninitialised line 6
// launch: block=32
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    out[i] += in[i];
}
