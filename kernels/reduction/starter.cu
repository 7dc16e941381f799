#include "lab.h"

// A block takes 256 elements at a time and adds them up in shared memory,
// with a barrier for each halving. Meanwhile nothing comes from memory.
extern "C" __global__ void reduceSum(const float *input, float *sum, int n)
{
    // >>> your code
    __shared__ float part[kReduceThreads];
    const int step = gridDim.x * blockDim.x;

    for (int from = blockIdx.x * blockDim.x; from < n; from += step) {
        const int i = from + threadIdx.x;
        part[threadIdx.x] = i < n ? input[i] : 0.0f;
        __syncthreads(); // all 256 are there

        for (int half = kReduceThreads / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                part[threadIdx.x] += part[threadIdx.x + half];
            __syncthreads(); // this level is complete
        }
        if (threadIdx.x == 0)
            atomicAdd(sum, part[0]);
    }
    // <<< your code
}
