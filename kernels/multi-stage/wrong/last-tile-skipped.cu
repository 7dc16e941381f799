// verdict: hazard
// The loop ends where there is nothing left to start: the last tiles are copied and never used.
// verdict-gpu: wrong
#include "lab.h"

// One block, 32 tiles, two buffers. While tile t is computed on, tile t + 1
// is on its way, and nothing else. Have more of them on their way.
extern "C" __global__ void stagesTransformTiles(const float *input,
                                                float *output)
{
    // >>> your code
    constexpr int kStages = 6;
    extern __shared__ __align__(128) float tiles[];

    const size_t first = (size_t)blockIdx.x * kStagesElementsPerBlock;
    const int chunk = threadIdx.x * 4; // where this thread's 16 bytes begin

    // Starts this thread's part of tile t. Behind the last tile nothing is
    // copied, but a group is committed all the same: so the newest kStages
    // - 1 groups are always the ones behind tile t, and the wait need not
    // know the end.
    auto startCopy = [&](int t) {
        if (t < kStagesTilesPerBlock) {
            float *stage = tiles + t % kStages * kStagesTileElements;
            const unsigned to = static_cast<unsigned>(
                __cvta_generic_to_shared(stage + chunk));
            const size_t from = __cvta_generic_to_global(
                input + first + t * kStagesTileElements + chunk);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                         :
                         : "r"(to), "l"(from)
                         : "memory");
        }
        asm volatile("cp.async.commit_group;\n" ::: "memory");
    };

    for (int t = 0; t < kStages - 1; ++t)
        startCopy(t);
    for (int t = 0; t + kStages - 1 < kStagesTilesPerBlock; ++t) {
        startCopy(t + kStages - 1);
        asm volatile("cp.async.wait_group %0;\n"
                     :
                     : "n"(kStages - 1)
                     : "memory");
        __syncthreads(); // everyone's part of tile t is here

        const float *tile = tiles + t % kStages * kStagesTileElements;
        float *to = output + first + t * kStagesTileElements;
        for (int i = threadIdx.x; i < kStagesTileElements; i += blockDim.x)
            to[i] = stagesTransform(tile[i]);
        __syncthreads(); // tile t + kStages may land in this stage now
    }
    // <<< your code
}
