// expect: refill line 23/27
// launch: block=32
// The same inside one warp.
__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
}
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n)  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[2][128];
    int t = threadIdx.x;
    const float *tile = in + blockIdx.x * 512;
    float v = 0;
    copy16(&s[0][4 * t], tile + 4 * t);
    COMMIT();
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        if (k < 3)
            copy16(&s[(k + 1) & 1][4 * t], tile + (k + 1) * 128 + 4 * t);
        COMMIT();
        WAIT(1);
        __syncwarp();
        v += s[k & 1][127 - t];
    }
    out[blockIdx.x * 32 + t] = v;
}
