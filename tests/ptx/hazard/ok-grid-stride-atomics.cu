// expect: clean
// launch: grid=5 block=64 out=zero
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float part[2];
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 3000; i += gridDim.x * blockDim.x)
        v += in[i];
    for (int o = 16; o; o >>= 1)
        v += __shfl_down_sync(~0u, v, o);
    if (!(threadIdx.x & 31))
        part[threadIdx.x / 32] = v;
    __syncthreads();
    if (!threadIdx.x)
        atomicAdd(out, part[0] + part[1]);
}
