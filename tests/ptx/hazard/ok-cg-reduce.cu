// expect: clean
// launch: block=256
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float part[8];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float v = cg::reduce(warp, in[blockIdx.x * 256 + threadIdx.x], cg::plus<float>());
    if (warp.thread_rank() == 0)
        part[warp.meta_group_rank()] = v;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        v = warp.thread_rank() < 8 ? part[warp.thread_rank()] : 0.f;
        v = cg::reduce(warp, v, cg::plus<float>());
        if (warp.thread_rank() == 0)
            out[blockIdx.x] = v;
    }
}
