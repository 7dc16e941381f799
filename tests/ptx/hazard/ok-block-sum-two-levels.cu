// expect: clean
// launch: block=1024
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 1024 + t];
    __syncthreads();
    if (t < 512)
        s[t] += s[t + 512];
    __syncthreads();
    if (t < 256)
        s[t] += s[t + 256];
    __syncthreads();
    if (t < 128)
        s[t] += s[t + 128];
    __syncthreads();
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        float v = s[t] + s[t + 32];
        for (int o = 16; o; o >>= 1)
            v += __shfl_down_sync(~0u, v, o);
        if (!t)
            out[blockIdx.x] = v;
    }
}
