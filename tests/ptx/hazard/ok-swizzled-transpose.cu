// expect: clean
// launch: block=32x8
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float tile[32][32];
    int x = threadIdx.x, y = threadIdx.y;
    for (int j = y; j < 32; j += 8)
        tile[j][x ^ j] = in[blockIdx.x * 1024 + j * 32 + x];
    __syncthreads();
    for (int j = y; j < 32; j += 8)
        out[blockIdx.x * 1024 + j * 32 + x] = tile[x][j ^ x];
}
