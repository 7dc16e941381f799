// expect: clean
// launch: block=128
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float total, warps[4];
    int t = threadIdx.x;
    if (t == 0)
        total = 0;
    if (t % 32 == 0)
        warps[t / 32] = 0;
    __syncwarp();
    float sum = in[blockIdx.x * 128 + t];
    atomicAdd(&warps[t / 32], sum);
    __syncthreads();
    if (t % 32 == 0)
        atomicAdd(&total, warps[t / 32]);
    __syncthreads();
    out[blockIdx.x * 128 + t] = total;
}
