// expect: clean
// launch: block=64
// The same with volatile and fences.
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
        __threadfence_block();
        out[blockIdx.x * 32 + t - 32] = s[63 - t];
    }
}
