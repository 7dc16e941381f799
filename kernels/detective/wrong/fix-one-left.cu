// verdict: hazard
// One wait for all frames: for the last one there is no newer group that may be left.
// verdict-gpu: wrong, pass (the last copy may land in time by luck)
#include "lab.h"

// Its answers are right, and the kernel is wrong all the same.
extern "C" __global__ void frameTurnRound(const float *input, float *output)
{
    // >>> your code
    __shared__ alignas(128) float frames[2][kFrameSamples];
    __shared__ float partial[kFrameWarps];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t first = (size_t)blockIdx.x * kFrameSamplesPerBlock;

    frameStartCopy(frames[0], input + first);
    for (int f = 0; f < kFramesPerBlock; ++f) {
        const float *frame = frames[f % 2];
        const size_t at = first + f * kFrameSamples;
        const bool last = f + 1 == kFramesPerBlock;
        if (!last)
            frameStartCopy(frames[(f + 1) % 2], input + at + kFrameSamples);
        frameWait<1>();
        __syncthreads(); // everyone's part of the frame is here

        // Each warp adds up its eighth of the frame.
        float sum = 0;
        for (int i = 128 * warp + lane; i < 128 * (warp + 1); i += 32)
            sum += frame[i];
        for (int half = 16; half > 0; half /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, half);
        if (lane == 0)
            partial[warp] = sum;
        __syncthreads(); // everyone's sum is here

        float mean = 0;
        for (int w = 0; w < kFrameWarps; ++w)
            mean += partial[w];
        mean /= kFrameSamples;
        for (int i = threadIdx.x; i < kFrameSamples; i += blockDim.x)
            output[at + i] = frame[kFrameSamples - 1 - i] - mean;
        __syncthreads(); // the next copy may land in this buffer now
    }
    // <<< your code
}
