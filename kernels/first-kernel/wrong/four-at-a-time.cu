// verdict: fault
// Takes four elements at a time, and n is no multiple of four.
#include "lab.h"

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    // >>> your code
    const int threads = gridDim.x * blockDim.x;

    for (int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x); i < n;
         i += 4 * threads)
    {
        const float4 p = *reinterpret_cast<const float4 *>(x + i);
        float4 q = *reinterpret_cast<float4 *>(y + i);
        q = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z,
                        a * p.w + q.w);
        *reinterpret_cast<float4 *>(y + i) = q;
    }
    // <<< your code
}
