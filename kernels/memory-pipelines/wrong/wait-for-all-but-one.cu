// verdict: hazard
// Leaves one stage in flight after the last tile too, which has no newer one behind it.
// verdict-gpu: wrong, pass (the last copy may land in time by luck)
#include "lab.h"

#include <cuda/pipeline>

extern "C" __global__ void pipelineTransformTiles(const float *input,
                                                  float *output)
{
    // >>> your code
    __shared__ alignas(128) float tiles[2][kAsyncTileElements];

    const size_t first = (size_t)blockIdx.x * kAsyncElementsPerBlock;
    const int chunk = threadIdx.x * 4; // where this thread's 16 bytes begin

    // A pipeline of the thread's own: its stages hold what this thread copies.
    auto pipeline = cuda::make_pipeline();
    auto startCopy = [&](int t) {
        pipeline.producer_acquire();
        cuda::memcpy_async(&tiles[t % 2][chunk],
                           input + first + t * kAsyncTileElements + chunk,
                           cuda::aligned_size_t<16>(16), pipeline);
        pipeline.producer_commit();
    };

    startCopy(0);
    for (int t = 0; t < kAsyncTilesPerBlock; ++t) {
        if (t + 1 < kAsyncTilesPerBlock)
            startCopy(t + 1);
        cuda::pipeline_consumer_wait_prior<1>(pipeline);
        __syncthreads(); // and everyone else's

        const float *tile = tiles[t % 2];
        float *to = output + first + t * kAsyncTileElements;
        for (int i = threadIdx.x; i < kAsyncTileElements; i += blockDim.x)
            to[i] = asyncTransform(tile[i]);
        pipeline.consumer_release();
        __syncthreads(); // tile t + 2 may land in this stage now
    }
    // <<< your code
}
