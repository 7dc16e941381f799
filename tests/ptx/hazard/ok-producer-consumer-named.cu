// expect: clean
// launch: block=64
// Warp 0 fills, warp 1 uses; named barriers 1 (full) and 2 (empty).
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int lane = threadIdx.x & 31, i = blockIdx.x * 32 + lane;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 4; k++) {
            if (k)
                asm volatile("bar.sync 2, 64;" ::: "memory");
            s[lane] = in[i + k];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else {
        float v = 0;
        for (int k = 0; k < 4; k++) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            v += s[31 - lane];
            if (k < 3)
                asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
        out[i] = v;
    }
}
