// expect: clean
// launch: grid=4 block=64
// The last block to finish adds up what the others left: fence, ticket, read.
__device__ unsigned ticket;
__device__ volatile float part[4];
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ bool last;
    int t = threadIdx.x;
    float v = in[blockIdx.x * 64 + t];
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, o);
    __shared__ float w[2];
    if ((t & 31) == 0)
        w[t / 32] = v;
    __syncthreads();
    if (t == 0) {
        out[1 + blockIdx.x] = w[0] + w[1];
        __threadfence();
        last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++)
            sum += ((volatile float *)out)[1 + i];
        out[0] = sum;
    }
}
