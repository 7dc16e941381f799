// expect: clean
// launch: block=256 out=zero
__inline__ __device__ float warp_sum(float v)
{
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, o);
    return v;
}
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float part[32];
    float v = warp_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < (blockDim.x >> 5) ? part[lane] : 0.f;
        v = warp_sum(v);
        if (lane == 0)
            atomicAdd(out, v);
    }
}
