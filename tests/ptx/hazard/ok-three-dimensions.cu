// expect: clean
// launch: grid=2x1x2 block=8x4x4
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[4][4][9];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int i = ((blockIdx.z * 2 + blockIdx.x) * 4 + z) * 32 + y * 8 + x;
    s[z][y][x] = in[i];
    __syncthreads();
    out[i] = s[3 - z][3 - y][7 - x];
}
