// expect: uninitialised line 10
// launch: block=128
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (t < 100)
        s[t] = in[i];
    __syncthreads();
    out[i] = s[127 - t];
}
