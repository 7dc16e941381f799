// expect: read-only-path line 10/8
// launch: block=64
// A barrier orders the two, but __ldg goes a way that need not see the store.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    float *mine = out + blockIdx.x * 64;
    mine[t] = in[t] * 2;
    __syncthreads();
    out[4096 + blockIdx.x * 64 + t] = __ldg(&mine[t ^ 32]);
}
