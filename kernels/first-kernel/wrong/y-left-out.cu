// verdict: wrong
// Writes a * x and forgets y.
#include "lab.h"

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    // >>> your code
    const int threads = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        y[i] = a * x[i];
    // <<< your code
}
