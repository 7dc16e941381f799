// expect: clean
// launch: block=128
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x, lane = t & 31, warp = t / 32, i = blockIdx.x * 128 + t;
    float x = in[i], m = x;
    for (int o = 16; o; o >>= 1)
        m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    if (!lane)
        s[warp] = m;
    __syncthreads();
    m = fmaxf(fmaxf(s[0], s[1]), fmaxf(s[2], s[3]));
    __syncthreads();
    float e = expf(x - m), sum = e;
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(0xffffffffu, sum, o);
    if (!lane)
        s[warp] = sum;
    __syncthreads();
    out[i] = e / (s[0] + s[1] + s[2] + s[3]);
}
