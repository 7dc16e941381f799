// expect: race-read-after-write line 10/8
// launch: block=128
// Warps 0 and 1 meet, 2 and 3 meet; but everybody reads across.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    asm volatile("bar.sync %0, 64;" ::"r"(1 + t / 64) : "memory");
    out[i] = s[127 - t];
}
