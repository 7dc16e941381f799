// expect: lockstep line 13
// launch: block=64
// The old trick: the last warp without __syncwarp, with volatile.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float sum[64];
    int t = threadIdx.x;
    sum[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 32) {
        volatile float *v = sum;
        v[t] += v[t + 32];
        v[t] += v[t + 16];
        v[t] += v[t + 8];
        v[t] += v[t + 4];
        v[t] += v[t + 2];
        v[t] += v[t + 1];
        if (t == 0)
            out[blockIdx.x] = v[0];
    }
}
