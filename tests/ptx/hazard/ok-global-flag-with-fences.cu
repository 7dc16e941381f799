// expect: clean
// launch: grid=1 block=96 out=zero
// Published with a fence, a volatile flag and a fence; then with an atomic one.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    volatile int *flag = (volatile int *)(out + 8192);
    int *count = (int *)(out + 8193);
    int t = threadIdx.x;
    if (t < 32) {
        out[t] = in[t];
        __threadfence();
        __syncwarp();
        if (t == 0)
            *flag = 1;
    } else if (t < 64) {
        while (!*flag)
            ;
        __threadfence();
        out[1024 + t] = out[t - 32];
        __threadfence();
        atomicAdd(count, 1);
    } else {
        while (atomicAdd(count, 0) < 32)
            ;
        __threadfence();
        out[2048 + t] = out[1024 + t - 32] + out[t - 64];
    }
}
