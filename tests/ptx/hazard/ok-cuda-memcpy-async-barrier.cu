// expect: clean
// launch: block=64
#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&bar, block.size());
    block.sync();
    float v = 0;
    for (int k = 0; k < 3; k++) {
        cuda::memcpy_async(block, s, in + (blockIdx.x * 3 + k) * 256,
                           cuda::aligned_size_t<16>(sizeof s), bar);
        bar.arrive_and_wait();
        v += s[255 - 4 * threadIdx.x];
        block.sync();
    }
    out[blockIdx.x * 64 + threadIdx.x] = v;
}
