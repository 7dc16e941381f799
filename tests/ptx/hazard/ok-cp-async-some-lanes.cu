// expect: clean
// launch: block=64
// Only every second thread copies and commits, twice as often: groups count per thread.
__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
}
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n)  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[2][256];
    int t = threadIdx.x;
    const float *tile = in + blockIdx.x * 512;
    if (t & 1) {
        copy16(&s[0][4 * t], tile + 4 * t);
        COMMIT();
        copy16(&s[0][4 * t - 4], tile + 4 * t - 4);
        COMMIT();
    }
    copy16(&s[1][4 * t], tile + 256 + 4 * t);
    COMMIT();
    WAIT(1);
    __syncthreads();
    float v = s[0][255 - t];
    WAIT(0);
    __syncthreads();
    out[blockIdx.x * 64 + t] = v + s[1][255 - t];
}
