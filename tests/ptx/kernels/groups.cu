// Cooperative groups: tiles of 8 and 32, reductions, a coalesced group.
// launch: grid=2 block=96
// in: 192 u32
// out: 576 u32
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(unsigned *out, const unsigned *in)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    unsigned i = blockIdx.x * 96 + threadIdx.x, x = in[i] & 0xffffff;
    out[i] = cg::reduce(warp, x, cg::plus<unsigned>());
    out[192 + i] = eight.shfl(x, 3) + eight.ballot(x & 1) + cg::reduce(eight, x, cg::greater<unsigned>());
    unsigned rank = 1000;
    if (x & 2) {
        auto some = cg::coalesced_threads();
        rank = some.thread_rank() + 100 * some.size();
    }
    out[384 + i] = rank;
}
