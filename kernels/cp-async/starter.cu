#include "lab.h"

// One block, four tiles, one after the other: load a tile, compute on it,
// load the next. While a tile is loading nobody computes. Change that.
extern "C" __global__ void asyncTransformTiles(const float *input,
                                               float *output)
{
    // >>> your code
    __shared__ alignas(128) float tile[kAsyncTileElements];

    const size_t first = (size_t)blockIdx.x * kAsyncElementsPerBlock;

    for (int t = 0; t < kAsyncTilesPerBlock; ++t) {
        const float *from = input + first + t * kAsyncTileElements;
        float *to = output + first + t * kAsyncTileElements;

        // Global memory -> register -> shared memory.
        for (int i = threadIdx.x; i < kAsyncTileElements; i += blockDim.x)
            tile[i] = from[i];
        __syncthreads(); // the whole tile is there

        for (int i = threadIdx.x; i < kAsyncTileElements; i += blockDim.x)
            to[i] = asyncTransform(tile[i]);
        __syncthreads(); // nobody needs the tile any more
    }
    // <<< your code
}
