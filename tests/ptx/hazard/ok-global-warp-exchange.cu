// expect: clean
// launch: grid=2 block=64
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x, lane = t & 31;
    float *mine = out + (blockIdx.x * 2 + t / 32) * 32;
    mine[lane] = in[t];
    __syncwarp();
    float x = mine[lane ^ 5];
    __syncwarp();
    mine[lane] = x + 1;
    __syncwarp();
    if (lane == 0) {
        float sum = 0;
        for (int i = 0; i < 32; i++)
            sum += mine[i];
        out[4096 + blockIdx.x * 2 + t / 32] = sum;
    }
}
