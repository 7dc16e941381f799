// expect: race-read-after-write line 13/10
// launch: grid=1 block=96
// Warp 2 reads what warp 0 wrote, but waits with warp 1 only.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x, warp = t / 32;
    if (warp == 1)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    if (warp == 0)
        out[t] = in[t];
    if (warp == 2) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[1000 + t] = out[t - 64];
    }
    __syncthreads();
}
