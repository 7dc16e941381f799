// expect: clean
// launch: grid=2x2 block=16x16
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float A[16][16], B[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < 32; k += 16) {
        A[y][x] = in[row * 32 + k + x];
        B[y][x] = in[1024 + (k + y) * 32 + col];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += A[y][i] * B[i][x];
        __syncthreads();
    }
    out[row * 32 + col] = sum;
}
