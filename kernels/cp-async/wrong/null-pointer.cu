// verdict: fault
// Writes through a pointer that is null. Its value comes from the grid's shape: a null that the
// compiler sees is no write at all, since it may leave out what must not happen.
#include "lab.h"

extern "C" __global__ void asyncTransformTiles(const float *input,
                                               float *output)
{
    // >>> your code
    __shared__ alignas(128) float tile[kAsyncTileElements];

    const size_t first = (size_t)blockIdx.x * kAsyncElementsPerBlock;
    const int chunk = threadIdx.x * 4; // where this thread's 16 bytes begin
    float *nowhere = reinterpret_cast<float *>(size_t(gridDim.y - 1));

    for (int t = 0; t < kAsyncTilesPerBlock; ++t) {
        const float *from = input + first + t * kAsyncTileElements;

        // Global memory -> registers -> shared memory.
        const float4 four = *reinterpret_cast<const float4 *>(from + chunk);
        *reinterpret_cast<float4 *>(tile + chunk) = four;
        __syncthreads(); // the whole tile is there

        for (int i = threadIdx.x; i < kAsyncTileElements; i += blockDim.x)
            nowhere[i] = asyncTransform(tile[i]);
        __syncthreads(); // nobody needs the tile any more
    }
    // <<< your code
}
