// expect: clean
// launch: block=96
// Warp 0 loads by bulk copies, warps 1 and 2 compute: full and empty mbarriers, two stages.
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

__device__ __forceinline__ void arrive(unsigned bar)
{
    asm volatile("{\n.reg .b64 st;\nmbarrier.arrive.shared::cta.b64 st, [%0];\n}" ::"r"(bar)
                 : "memory");
}
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(128) float s[2][64];
    __shared__ __align__(8) unsigned long long full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0) {
        for (int b = 0; b < 2; b++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[b])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(shared_address(&empty[b])));
        }
    }
    __syncthreads();
    if (t < 32) {
        if (t == 0)
            for (int k = 0; k < 7; k++) {
                int b = k & 1;
                if (k >= 2)
                    wait_phase(shared_address(&empty[b]), ((k >> 1) - 1) & 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(
                                 shared_address(&full[b]))
                             : "memory");
                bulk_load(s[b], in + (blockIdx.x * 7 + k) * 64, 256, shared_address(&full[b]));
            }
    } else {
        int c = t - 32;
        float v = 0;
        for (int k = 0; k < 7; k++) {
            int b = k & 1;
            wait_phase(shared_address(&full[b]), (k >> 1) & 1);
            v += s[b][63 - c];
            arrive(shared_address(&empty[b]));
        }
        out[blockIdx.x * 64 + c] = v;
    }
}
