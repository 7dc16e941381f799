// Rows of 64, a warp each: maximum, exp, sum. exp uses ex2.approx, so it is near only.
// launch: grid=4 block=128
// in: 1024 f32
// out: 1024 f32 near 1e-6
extern "C" __global__ void k(float *out, const float *in)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float a = in[row * 64 + lane], b = in[row * 64 + 32 + lane], most = fmaxf(a, b);
    for (int offset = 16; offset; offset /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, offset));
    a = __expf(a - most);
    b = __expf(b - most);
    float sum = a + b;
    for (int offset = 16; offset; offset /= 2)
        sum += __shfl_xor_sync(~0u, sum, offset);
    out[row * 64 + lane] = __fdividef(a, sum);
    out[row * 64 + 32 + lane] = __fdividef(b, sum);
}
