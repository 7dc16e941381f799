// expect: source-overwritten line 20/18
// launch: grid=1 block=64
// In place: the tile's source is overwritten while it is being copied.
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
    for (int k = 0; k < 4; k++)
        out[4 * t + k] = in[4 * t + k];
    copy16(&s[4 * t], out + 4 * t);
    COMMIT();
    out[4 * t] = 1.f;
    WAIT(0);
    __syncthreads();
    out[t + 256] = s[255 - t];
}
