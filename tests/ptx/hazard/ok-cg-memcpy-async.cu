// expect: clean
// launch: block=64
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[2][64];
    auto block = cg::this_thread_block();
    const float *tile = in + blockIdx.x * 256;
    float v = 0;
    cg::memcpy_async(block, s[0], tile, sizeof s[0]);
    for (int k = 0; k < 4; k++) {
        if (k < 3) {
            cg::memcpy_async(block, s[(k + 1) & 1], tile + (k + 1) * 64, sizeof s[0]);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        v += s[k & 1][63 - threadIdx.x];
        block.sync();
    }
    out[blockIdx.x * 64 + threadIdx.x] = v;
}
