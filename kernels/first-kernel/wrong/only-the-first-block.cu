// verdict: wrong
// Forgets blockIdx: all blocks do the elements of the first, and none those of the others.
#include "lab.h"

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    // >>> your code
    const int threads = gridDim.x * blockDim.x;

    for (int i = threadIdx.x; i < n; i += threads)
        if (blockIdx.x == 0)
            y[i] = a * x[i] + y[i];
    // <<< your code
}
