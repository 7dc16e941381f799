// expect: race-write-after-read line 12/20
// launch: block=64
// also: race-read-after-write
// No "empty" barrier: the producer refills while the consumer may still read.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int lane = threadIdx.x & 31, i = blockIdx.x * 32 + lane;
    if (threadIdx.x < 32) {
#pragma unroll 1
        for (int k = 0; k < 4; k++) {
            s[lane] = in[i + k];
            asm volatile("bar.sync 1, 64;" ::: "memory");
        }
    } else {
        float v = 0;
#pragma unroll 1
        for (int k = 0; k < 4; k++) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            v += s[31 - lane];
        }
        out[i] = v;
    }
}
