// expect: clean
// launch: grid=5 block=32 out=zero
// Each block waits for the one before, adds to what all before left, and goes on: a chain of fences.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    volatile int *flag = (volatile int *)(out + 8192);
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0 && b > 0)
        while (!flag[b - 1])
            ;
    __threadfence();
    __syncthreads();
    out[t] = out[t] + in[b * 32 + t];
    out[1024 + b * 32 + t] = b > 1 ? out[1024 + (b - 2) * 32 + 31 - t] + 1 : in[t];
    __threadfence();
    __syncthreads();
    if (t == 0)
        flag[b] = 1;
}
