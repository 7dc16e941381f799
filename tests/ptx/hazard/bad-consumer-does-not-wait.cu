// expect: race-read-after-write line 13/9
// launch: block=64
// The consumer arrives where it should wait.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int lane = threadIdx.x & 31, i = blockIdx.x * 32 + lane;
    if (threadIdx.x < 32) {
        s[lane] = in[i];
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        out[i] = s[31 - lane];
    }
}
