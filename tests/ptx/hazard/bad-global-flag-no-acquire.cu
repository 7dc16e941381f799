// expect: race-read-after-write line 18/9
// launch: grid=1 block=64 out=zero
// The same in global memory, with an atomic for a flag.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int *count = (int *)(out + 8192);
    int t = threadIdx.x;
    if (t < 32) {
        out[t] = in[t];
        __threadfence();
        atomicAdd(count, 1);
        return;
    }
    if (t >= 64)
        return;
    while (atomicAdd(count, 0) < 32)
        ;
    out[1024 + t] = out[t - 32];
}
