// 64 x 64 x 64, a tile in shared memory, 4 x 4 per thread.
// launch: grid=1 block=256
// in: 8192 f32
// out: 4096 f32
extern "C" __global__ void k(float *out, const float *in)
{
    __shared__ float a[16][64], b[16][64];
    const float *A = in, *B = in + 4096;
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < 64; k0 += 16) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            a[i / 64][i % 64] = A[i % 64 * 64 + k0 + i / 64];
            b[i / 64][i % 64] = B[(k0 + i / 64) * 64 + i % 64];
        }
        __syncthreads();
        for (int q = 0; q < 16; q++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] = fmaf(a[q][ty * 4 + i], b[q][tx * 4 + j], sum[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *reinterpret_cast<float4 *>(&out[(ty * 4 + i) * 64 + tx * 4]) =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
