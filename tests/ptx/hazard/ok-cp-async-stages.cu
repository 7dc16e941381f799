// expect: clean
// launch: block=64
// Four stages; empty groups keep the count at the end; one barrier per step.
__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
}
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n)  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[4][256];
    int t = threadIdx.x;
    const float *tile = in + blockIdx.x * 2048;
    float v = 0;
    for (int k = 0; k < 3; k++) {
        copy16(&s[k][4 * t], tile + k * 256 + 4 * t);
        COMMIT();
    }
    for (int k = 0; k < 8; k++) {
        WAIT(2);
        __syncthreads();
        if (k + 3 < 8)
            copy16(&s[(k + 3) & 3][4 * t], tile + (k + 3) * 256 + 4 * t);
        COMMIT();
        v += s[k & 3][(4 * t + 77) & 255];
    }
    out[blockIdx.x * 64 + t] = v;
}
