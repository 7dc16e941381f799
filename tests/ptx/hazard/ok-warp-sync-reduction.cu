// expect: clean
// launch: block=64
// The last 32 elements in one warp, with __syncwarp between reading and writing.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float sum[64];
    int t = threadIdx.x;
    sum[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 32) {
        float v = sum[t] + sum[t + 32];
        for (int s = 16; s > 0; s >>= 1) {
            __syncwarp();
            sum[t] = v;
            __syncwarp();
            v += sum[(t + s) & 31];
        }
        if (t == 0)
            out[blockIdx.x] = v;
    }
}
