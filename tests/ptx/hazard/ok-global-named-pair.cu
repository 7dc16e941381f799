// expect: clean
// launch: grid=1 block=128
// Two warps at a time meet at a barrier of their own.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x, pair = t / 64;
    float *mine = out + pair * 64;
    mine[t % 64] = in[t];
    asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
    float x = mine[63 - t % 64];
    asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
    mine[t % 64] = x;
}
