// expect: mbarrier line 44
// launch: block=64
// also: race-read-after-write
// stops: maybe
// No barrier between init and use.
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

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[64];
    __shared__ __align__(8) unsigned long long bar;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    unsigned b = shared_address(&bar);
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(b) : "memory");
    s[t] = in[i];
    asm volatile("{\n.reg .b64 st;\nmbarrier.arrive.shared::cta.b64 st, [%0];\n}" ::"r"(b) : "memory");
    wait_phase(b, 0);
    out[i] = s[63 - t];
}
