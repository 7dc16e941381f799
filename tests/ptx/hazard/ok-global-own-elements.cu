// expect: clean
// launch: grid=2 block=96 out=zero
// In place, each thread at its own elements, row by row and scattered.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x, own = blockIdx.x * 96 + t * 37 % 96;
    for (int round = 0; round < 3; round++) {
        out[blockIdx.x * 96 + t + 1024 * round] += in[t];
        out[4096 + own] = out[4096 + own] * 2 + 1;
    }
    float4 *four = reinterpret_cast<float4 *>(out + 8192) + blockIdx.x * 96 + t;
    *four = make_float4(t, 1, 2, 3);
    four->y += four->x;
}
