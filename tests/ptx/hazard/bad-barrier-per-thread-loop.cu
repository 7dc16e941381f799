// expect: divergent-barrier line 11
// launch: block=32
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    float v = 0;
#pragma unroll 1
    for (int k = 0; k <= (t & 3); k++) {
        v += in[i + k];
        __syncthreads();
    }
    s[t] = v;
    out[i] = s[t];
}
