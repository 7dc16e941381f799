// expect: global-race line 15/9
// launch: grid=2 block=32 out=zero
// Block 1 waits for block 0's flag and reads what stands behind it, with no fence in between.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    volatile int *flag = (volatile int *)(out + 8192);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        out[t] = in[t];
        __threadfence();
        flag[t] = 1;
    } else {
        while (!flag[31 - t])
            ;
        out[1024 + t] = out[31 - t];
    }
}
