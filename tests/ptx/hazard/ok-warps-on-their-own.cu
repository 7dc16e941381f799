// expect: clean
// launch: block=128
// Each warp has its own row; __syncwarp is all the order it needs.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[4][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, i = blockIdx.x * 128 + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        s[warp][lane] = in[i + k];
        __syncwarp();
        out[i] = s[warp][31 - lane] + s[warp][lane ^ 1];
        __syncwarp();
    }
}
