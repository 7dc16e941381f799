// expect: clean
// launch: block=256
// One barrier per step, as in every textbook.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float sum[256];
    int t = threadIdx.x;
    sum[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            sum[t] += sum[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sum[0];
}
