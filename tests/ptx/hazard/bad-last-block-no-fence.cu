// expect: global-race line 17/9
// launch: grid=4 block=64
// A ticket without a fence publishes nothing.
__device__ unsigned ticket;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ bool last;
    int t = threadIdx.x;
    out[blockIdx.x * 64 + t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0)
        last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        float sum = 0;
        for (int i = 0; i < 4; i++)
            sum += out[i * 64 + t];
        out[1000 + t] = sum;
    }
}
