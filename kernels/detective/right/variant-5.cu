// Mended: A barrier after the totals are cleared, before anyone adds.
#include "lab.h"

// Its answers are right, and the kernel is wrong all the same.
extern "C" __global__ void frameTurnRound(const float *input, float *output)
{
    // >>> your code
    __shared__ alignas(128) float frames[2][kFrameSamples];
    __shared__ float total[2]; // of this frame and of the next
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t first = (size_t)blockIdx.x * kFrameSamplesPerBlock;

    if (threadIdx.x < 2)
        total[threadIdx.x] = 0;
    __syncthreads();

    frameStartCopy(frames[0], input + first);
    for (int f = 0; f < kFramesPerBlock; ++f) {
        const float *frame = frames[f % 2];
        const size_t at = first + f * kFrameSamples;
        const bool last = f + 1 == kFramesPerBlock;
        if (!last)
            frameStartCopy(frames[(f + 1) % 2], input + at + kFrameSamples);
        if (last)
            frameWait<0>();
        else
            frameWait<1>();
        __syncwarp();

        // Each warp adds up its eighth of the frame.
        float sum = 0;
        for (int i = 128 * warp + lane; i < 128 * (warp + 1); i += 32)
            sum += frame[i];
        for (int half = 16; half > 0; half /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, half);
        if (lane == 0)
            atomicAdd(&total[f % 2], sum);
        __syncthreads();

        const float mean = total[f % 2] / kFrameSamples;
        for (int i = threadIdx.x; i < kFrameSamples; i += blockDim.x)
            output[at + i] = frame[kFrameSamples - 1 - i] - mean;
        if (threadIdx.x == 0)
            total[(f + 1) % 2] = 0;
        __syncthreads();
    }
    // <<< your code
}
