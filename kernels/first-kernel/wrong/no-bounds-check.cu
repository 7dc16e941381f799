// verdict: fault
// The last piece goes on behind the end.
#include "lab.h"

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    // >>> your code
    const int threads = gridDim.x * blockDim.x;
    const int chunk = (n + threads - 1) / threads;
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;

    for (int i = first; i < first + chunk; ++i)
        y[i] = a * x[i] + y[i];
    // <<< your code
}
