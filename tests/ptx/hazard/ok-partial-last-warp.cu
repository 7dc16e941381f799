// expect: clean
// launch: grid=2 block=70
// 70 threads: the last warp has six lanes, and shuffles with its own mask.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[70];
    int t = threadIdx.x, i = blockIdx.x * 70 + t;
    unsigned mask = __activemask();
    s[t] = in[i];
    __syncwarp();
    float v = s[(t ^ 1)];
    v += __shfl_sync(mask, v, 0);
    __syncthreads();
    s[69 - t] = v;
    __syncthreads();
    out[i] = s[t];
}
