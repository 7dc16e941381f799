// verdict: wrong
// The loop ends one tile early, so a quarter of the output is never written.
#include "lab.h"

extern "C" __global__ void asyncTransformTiles(const float *input,
                                               float *output)
{
    // >>> your code
    __shared__ alignas(128) float tiles[2][kAsyncTileElements];

    const size_t first = (size_t)blockIdx.x * kAsyncElementsPerBlock;
    const int chunk = threadIdx.x * 4; // where this thread's 16 bytes begin

    // Starts this thread's part of tile t and makes it a group of its own.
    auto startCopy = [&](int t) {
        const unsigned to = static_cast<unsigned>(
            __cvta_generic_to_shared(&tiles[t % 2][chunk]));
        const size_t from = __cvta_generic_to_global(
            input + first + t * kAsyncTileElements + chunk);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                     "cp.async.commit_group;\n"
                     :
                     : "r"(to), "l"(from)
                     : "memory");
    };

    startCopy(0);
    for (int t = 0; t < kAsyncTilesPerBlock - 1; ++t) {
        if (t + 1 < kAsyncTilesPerBlock - 1) {
            startCopy(t + 1);
            asm volatile("cp.async.wait_group 1;\n" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;\n" ::: "memory");
        }
        __syncthreads(); // everyone's part of tile t is here

        const float *tile = tiles[t % 2];
        float *to = output + first + t * kAsyncTileElements;
        for (int i = threadIdx.x; i < kAsyncTileElements; i += blockDim.x)
            to[i] = asyncTransform(tile[i]);
        __syncthreads(); // tile t + 2 may land in this buffer now
    }
    // <<< your code
}
