// expect: clean
// launch: block=128
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float v = 0;
    for (int fetch = 0, k = 0; k < 6; k++) {
        for (; fetch < 6 && fetch < k + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetch & 1], in + (blockIdx.x * 6 + fetch) * 128,
                               cuda::aligned_size_t<16>(512), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        v += s[k & 1][127 - threadIdx.x];
        pipe.consumer_release();
    }
    out[blockIdx.x * 128 + threadIdx.x] = v;
}
