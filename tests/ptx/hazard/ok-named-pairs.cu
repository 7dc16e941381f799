// expect: clean
// launch: block=128
// Two pairs of warps, each with a barrier of its own.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, pair = t / 64, i = blockIdx.x * 128 + t;
    for (int k = 0; k < 2 + pair; k++) {
        s[t] = in[i + k];
        asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
        out[i] = s[(t & 64) | (63 - (t & 63))];
        asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
    }
}
