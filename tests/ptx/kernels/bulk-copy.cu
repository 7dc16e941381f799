// cp.async.bulk into shared memory with an mbarrier, and back.
// launch: grid=2 block=128
// in: 1024 u32
// out: 1024 u32
extern "C" __global__ void k(unsigned *out, const unsigned *in)
{
    __shared__ alignas(128) unsigned tile[512];
    __shared__ unsigned long long bar;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    unsigned to = (unsigned)__cvta_generic_to_shared(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 2048;" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                     "2048, [%2];" ::"r"(to),
                     "l"(__cvta_generic_to_global(in + blockIdx.x * 512)), "r"(at)
                     : "memory");
    }
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @p bra D; bra "
                 "W; D: }" ::"r"(at)
                 : "memory");
    for (int i = threadIdx.x; i < 512; i += 128)
        tile[i] = tile[i] * 3 + i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;" ::"l"(
                         __cvta_generic_to_global(out + blockIdx.x * 512)),
                     "r"(to)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
