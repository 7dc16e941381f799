// expect: global-race line 9/7
// launch: grid=3 block=64
// In place over block borders: a neighbour block may have been there already, or not yet.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = in[i];
    __syncthreads();
    out[1000 + i] = i ? out[i - 1] : 0.f;
}
