// expect: divergent-barrier
// launch: block=64
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    if (t & 1) {
        out[i] = 1.f;
        __syncthreads();
        out[i] += s[t] * 2.f;
    } else {
        out[i] = 2.f;
        __syncthreads();
        out[i] -= s[t];
    }
}
