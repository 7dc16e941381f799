// expect: clean
// launch: block=64
// cp.async reported to an mbarrier instead of groups.
__device__ __forceinline__ unsigned shared_address(const void *p);
__device__ __forceinline__ void bulk_load(void *to, const void *from, int bytes, unsigned bar)
{
    unsigned s = shared_address(to);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(s), "l"(from), "r"(bytes), "r"(bar) : "memory");
}
__device__ __forceinline__ void bulk_store(void *to, const void *from, int bytes)
{
    unsigned s = shared_address(from);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(to), "r"(s), "r"(bytes) : "memory");
}
__device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void wait_phase(unsigned bar, unsigned parity)
{
    unsigned done;
    do {
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(bar), "r"(parity)
                     : "memory");
    } while (!done);
}
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
    __shared__ __align__(8) unsigned long long bar;
    int t = threadIdx.x;
    unsigned b = shared_address(&bar);
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(b) : "memory");
    __syncthreads();
    float v = 0;
    for (int k = 0; k < 3; k++) {
        copy16(&s[4 * t], in + blockIdx.x * 768 + k * 256 + 4 * t);
        asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(b) : "memory");
        wait_phase(b, k & 1);
        v += s[255 - 4 * t];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = v;
}
