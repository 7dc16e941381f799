// expect: barrier-mismatch line 10
// launch: block=64
// Barrier 1 waits for 96 threads; the block has 64.
// stops: deadlock
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    asm volatile("bar.sync 1, 96;" ::: "memory");
    out[i] = s[63 - t];
}
