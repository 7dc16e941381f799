// expect: divergent-barrier line 9
// launch: block=32
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = in[i];
    if (t < 16)
        __syncthreads();
    out[i] = s[t];
}
