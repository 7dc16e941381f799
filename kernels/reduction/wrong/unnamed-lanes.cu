// verdict: hazard
// The first step of the last shuffles goes one too far: it adds what lanes hold that the mask does not name.
// verdict-gpu: pass, wrong (what such a lane gives is undefined)
#include "lab.h"

extern "C" __global__ void reduceSum(const float *input, float *sum, int n)
{
    // >>> your code
    __shared__ float part[kReduceThreads / 32];
    const float4 *quads = reinterpret_cast<const float4 *>(input);
    const int count = n / 4, step = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    auto add = [](float4 q) { return (q.x + q.y) + (q.z + q.w); };

    // Four loads are on their way before the first is needed.
    float mine = 0.0f;
    int i = first;
    for (; i + 3 * step < count; i += 4 * step) {
        const float4 a = quads[i], b = quads[i + step];
        const float4 c = quads[i + 2 * step], d = quads[i + 3 * step];
        mine += (add(a) + add(b)) + (add(c) + add(d));
    }
    for (; i < count; i += step)
        mine += add(quads[i]);
    if (first < n % 4) // what is left when n is no multiple of four
        mine += input[4 * count + first];

    // From 256 numbers to 8, and from 8 to one.
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, offset);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = mine;
    __syncthreads(); // each warp's sum is there

    if (threadIdx.x < kReduceThreads / 32) {
        mine = part[threadIdx.x];
        for (int offset = 8; offset > 0; offset /= 2)
            mine += __shfl_down_sync(0xff, mine, offset);
        if (threadIdx.x == 0)
            atomicAdd(sum, mine);
    }
    // <<< your code
}
