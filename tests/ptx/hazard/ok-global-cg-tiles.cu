// expect: clean
// launch: grid=2 block=64
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    float *mine = out + blockIdx.x * 64;
    int t = threadIdx.x, first = t - t % 8;
    mine[t] = in[t];
    tile.sync();
    float x = mine[first + (t + 3) % 8];
    tile.sync();
    mine[t] = x;
    block.sync();
    out[4096 + blockIdx.x * 64 + t] = mine[63 - t];
}
