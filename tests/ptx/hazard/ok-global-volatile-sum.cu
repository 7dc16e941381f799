// expect: clean
// launch: grid=5 block=64 out=zero
// The last block sums what the others left: fence, ticket, barrier, fence.
__device__ unsigned ticket;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ bool last;
    int t = threadIdx.x;
    out[blockIdx.x * 64 + t] = in[t] + blockIdx.x;
    __threadfence();
    __syncthreads();
    if (t == 0)
        last = atomicAdd(&ticket, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    float sum = 0;
    for (int i = 0; i < 5; i++)
        sum += ((volatile float *)out)[i * 64 + 63 - t];
    out[1024 + t] = sum;
    __syncthreads();
    if (t == 0) {
        float all = 0;
        for (int i = 0; i < 64; i++)
            all += out[1024 + i];
        out[2048] = all;
        ticket = 0;
    }
}
