// expect: clean
// launch: grid=3 block=128
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    float *mine = out + blockIdx.x * 256;
    for (int round = 0; round < 4; round++) {
        mine[t] = in[t + round];
        __syncthreads();
        float x = mine[127 - t];
        __syncthreads();
        mine[128 + t] = x;
    }
}
