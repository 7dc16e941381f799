// expect: clean
// launch: block=64
// A barrier in a branch that all threads of the block take alike.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    if (blockIdx.x & 1) {
        __syncthreads();
        out[i] = s[63 - t];
    } else {
        __syncthreads();
        out[i] = s[t ^ 1];
    }
}
