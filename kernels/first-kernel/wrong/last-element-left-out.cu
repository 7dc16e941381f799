// verdict: wrong
// i < n - 1: the last element stays as it was.
#include "lab.h"

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    // >>> your code
    const int threads = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += threads)
        y[i] = a * x[i] + y[i];
    // <<< your code
}
