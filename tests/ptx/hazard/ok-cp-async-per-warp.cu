// expect: clean
// launch: block=128
// Each warp fills and reads its own tile: __syncwarp publishes, no block barrier at all.
__device__ __forceinline__ void copy16(void *to, const void *from)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(from) : "memory");
}
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n)  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[4][2][128];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float *tile = in + (blockIdx.x * 4 + warp) * 512;
    float v = 0;
    copy16(&s[warp][0][4 * lane], tile + 4 * lane);
    COMMIT();
    for (int k = 0; k < 4; k++) {
        if (k < 3)
            copy16(&s[warp][(k + 1) & 1][4 * lane], tile + (k + 1) * 128 + 4 * lane);
        COMMIT();
        WAIT(1);
        __syncwarp();
        v += s[warp][k & 1][127 - 4 * lane];
        __syncwarp();
    }
    out[blockIdx.x * 128 + threadIdx.x] = v;
}
