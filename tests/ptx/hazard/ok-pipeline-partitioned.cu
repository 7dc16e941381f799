// expect: clean
// launch: block=128
// One warp produces, three consume: cuda::pipeline with a producer count.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) float s[2][96];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state, (size_t)32);
    int t = threadIdx.x;
    if (t < 32) {
        for (int k = 0; k < 5; k++) {
            pipe.producer_acquire();
            for (int j = t; j < 96; j += 32)
                cuda::memcpy_async(&s[k & 1][j], in + (blockIdx.x * 5 + k) * 96 + j, sizeof(float),
                                   pipe);
            pipe.producer_commit();
        }
    } else {
        float v = 0;
        for (int k = 0; k < 5; k++) {
            pipe.consumer_wait();
            v += s[k & 1][127 - t];
            pipe.consumer_release();
        }
        out[blockIdx.x * 96 + t - 32] = v;
    }
}
