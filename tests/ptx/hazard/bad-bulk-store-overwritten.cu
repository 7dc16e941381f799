// expect: source-overwritten line 45/41
// launch: block=64
// also: refill race-write-after-read
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
    __shared__ __align__(128) float s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t] * 2.f;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        bulk_store(out + blockIdx.x * 64, s, 256);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncthreads();
    s[t] = 0.f;
    if (t == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    __syncthreads();
    out[1000 + blockIdx.x * 64 + t] = s[63 - t];
}
