// expect: read-only-path line 8/10
// launch: block=64 out=zero
// Read first and written afterwards: the array is not read-only all the same.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    float *mine = out + blockIdx.x * 64;
    float x = __ldg(&mine[t ^ 32]);
    __syncthreads();
    mine[t] = x + in[t];
}
