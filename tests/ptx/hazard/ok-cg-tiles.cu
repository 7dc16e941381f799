// expect: clean
// launch: block=128
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[128];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    tile.sync();
    float v = s[(t & ~15) | ((t + 3) & 15)];
    tile.sync();
    s[t] = v;
    block.sync();
    out[i] = s[127 - t];
}
