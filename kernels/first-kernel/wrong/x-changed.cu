// verdict: fault
// Keeps the result in x as well.
#include "lab.h"

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    // >>> your code
    const int threads = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        const_cast<float *>(x)[i] = y[i] = a * x[i] + y[i];
    // <<< your code
}
