// expect: race-read-after-write line 21/13
// launch: block=64
// The writer has its fence, the reader has none behind the flag.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    __shared__ volatile int flag;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t < 32) {
        s[t] = in[blockIdx.x * 32 + t];
        __syncwarp();
        __threadfence_block();
        if (t == 0)
            flag = 1;
    } else {
        while (!flag)
            ;
        out[blockIdx.x * 32 + t - 32] = s[63 - t];
    }
}
