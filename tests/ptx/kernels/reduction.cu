// Sums in a tree, then in a warp with shuffles; the order is fixed, so the bits are.
// launch: grid=8 block=256
// in: 4096 f32
// out: 8 f32
extern "C" __global__ void k(float *out, const float *in)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    const float *from = in + blockIdx.x * 512;
    part[t] = from[t] + from[t + 256];
    for (int half = 128; half >= 32; half /= 2) {
        __syncthreads();
        if (t < half)
            part[t] += part[t + half];
    }
    if (t < 32) {
        float sum = part[t];
        for (int offset = 16; offset; offset /= 2)
            sum += __shfl_down_sync(~0u, sum, offset);
        if (t == 0)
            out[blockIdx.x] = sum;
    }
}
