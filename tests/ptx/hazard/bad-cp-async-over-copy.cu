// expect: race-write-after-write line 7/7
// launch: block=64
// Two tiles into one buffer at once.
__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
}
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n)  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[256];
    int t = threadIdx.x;
    copy16(&s[4 * t], in + blockIdx.x * 512 + 4 * t);
    COMMIT();
    copy16(&s[4 * (63 - t)], in + blockIdx.x * 512 + 256 + 4 * t);
    COMMIT();
    WAIT(0);
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[255 - t];
}
