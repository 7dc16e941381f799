// expect: clean
// launch: grid=4 block=64 out=zero
// Each block works in place on its own part of global memory, with barriers.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    float *mine = out + blockIdx.x * 64;
    int t = threadIdx.x;
    mine[t] = in[blockIdx.x * 64 + t];
    for (int k = 1; k < 64; k <<= 1) {
        __syncthreads();
        float v = mine[t ^ k];
        __syncthreads();
        mine[t] = v + k;
    }
}
