// verdict: hazard, wrong
// Steps forward by a block instead of by the grid: blocks do each other's elements again.
// verdict-gpu: wrong
#include "lab.h"

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    // >>> your code
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
        y[i] = a * x[i] + y[i];
    // <<< your code
}
