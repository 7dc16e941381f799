// expect: clean
// launch: block=64
// Three stages, fully unrolled, prefetch behind the barrier; the last waits let everything land.
__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
}
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n)  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[3][256];
    int t = threadIdx.x;
    const float *tile = in + blockIdx.x * 1536;
    float v = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        copy16(&s[k][4 * t], tile + k * 256 + 4 * t);
        COMMIT();
    }
#pragma unroll
    for (int k = 0; k < 6; k++) {
        if (k < 5)
            WAIT(1);
        else
            WAIT(0);
        __syncthreads();
        if (k + 2 < 6) {
            copy16(&s[(k + 2) % 3][4 * t], tile + (k + 2) * 256 + 4 * t);
            COMMIT();
        }
        for (int j = 0; j < 4; j++)
            v += s[k % 3][(t * 4 + j * 68) & 255];
    }
    out[blockIdx.x * 64 + t] = v;
}
