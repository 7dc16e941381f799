// verdict: hazard
// Starts the copy of a round into the very buffer that this round reads.
// verdict-gpu: wrong, pass (the copy may come late enough by luck)
#include "lab.h"

// A block takes 256 elements at a time and adds them up in shared memory,
// with a barrier for each halving. Meanwhile nothing comes from memory.
extern "C" __global__ void reduceSum(const float *input, float *sum, int n)
{
    // >>> your code
    // Each thread adds up what it copied itself, so its own wait is enough.
    constexpr int kStages = 4;
    __shared__ alignas(128) float4 ring[kStages][kReduceThreads];
    __shared__ float part[kReduceThreads / 32];
    const int count = n / 4, step = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;

    auto start = [&](int round) {
        const int i = first + round * step;
        if (i < count) {
            const unsigned to =
                static_cast<unsigned>(__cvta_generic_to_shared(
                    &ring[round % kStages][threadIdx.x]));
            const size_t from = __cvta_generic_to_global(input + 4 * i);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n"
                         :
                         : "r"(to), "l"(from)
                         : "memory");
        }
        asm volatile("cp.async.commit_group;\n" ::: "memory");
    };
    for (int round = 0; round < kStages; ++round)
        start(round);
    float mine = 0.0f;
    for (int round = 0; first + round * step < count; ++round) {
        start(round + kStages);
        asm volatile("cp.async.wait_group %0;\n"
                     :
                     : "n"(kStages - 1)
                     : "memory");
        const float4 q = ring[round % kStages][threadIdx.x];
        mine += (q.x + q.y) + (q.z + q.w);
    }
    asm volatile("cp.async.wait_group 0;\n" ::: "memory");
    if (first < n % 4)
        mine += input[4 * count + first];
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, offset);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = threadIdx.x < kReduceThreads / 32 ? part[threadIdx.x] : 0.0f;
        for (int offset = 4; offset > 0; offset /= 2)
            mine += __shfl_down_sync(0xffffffff, mine, offset);
        if (threadIdx.x == 0)
            atomicAdd(sum, mine);
    }
    // <<< your code
}
