// expect: race-read-after-write line 16/9
// launch: grid=1 block=64 out=zero
// A volatile flag alone publishes nothing: the data may arrive after it.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    volatile int *flag = (volatile int *)(out + 8192);
    int t = threadIdx.x;
    if (t < 32) {
        out[t] = in[t];
        __syncwarp();
        if (t == 0)
            *flag = 1;
    } else {
        while (!*flag)
            ;
        out[1024 + t] = out[t - 32];
    }
}
