// expect: clean
// launch: block=64
// One thread starts a bulk copy per tile; everybody waits for its mbarrier.
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
    __shared__ __align__(128) float s[2][256];
    __shared__ __align__(8) unsigned long long bar[2];
    int t = threadIdx.x;
    const float *tile = in + blockIdx.x * 1024;
    if (t == 0) {
        for (int b = 0; b < 2; b++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar[b])));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    float v = 0;
    for (int k = 0; k < 5; k++) {
        if (k < 4 && t == 0) {
            unsigned b = shared_address(&bar[k & 1]);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(b)
                         : "memory");
            bulk_load(s[k & 1], tile + k * 256, 1024, b);
        }
        if (k > 0) {
            wait_phase(shared_address(&bar[(k - 1) & 1]), ((k - 1) >> 1) & 1);
            v += s[(k - 1) & 1][255 - t];
        }
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = v;
}
