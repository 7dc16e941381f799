// expect: clean
// launch: grid=3 block=96 out=zero
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ int slot[96];
    int t = threadIdx.x;
    slot[t] = -1;
    if (in[blockIdx.x * 96 + t] > 5.f) {
        auto g = cg::coalesced_threads();
        int base = 0;
        if (g.thread_rank() == 0)
            base = atomicAdd((int *)out, (int)g.size());
        slot[t] = g.shfl(base, 0) + g.thread_rank();
    }
    __syncthreads();
    if (slot[95 - t] >= 0)
        ((int *)out)[1000 + slot[95 - t]] = 1;
}
