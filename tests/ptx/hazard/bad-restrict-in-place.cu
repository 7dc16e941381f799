// expect: read-only-path line 6/6
// launch: block=64 out=zero
// const __restrict__ promises that nobody writes the array, and the compiler believes it.
__device__ __forceinline__ void scale(const float *__restrict__ from, float *__restrict__ to, int i)
{
    to[i] = from[i] * 2 + __ldg(&from[i]);
}
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    scale(out, out, blockIdx.x * 64 + threadIdx.x);
}
