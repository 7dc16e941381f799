// expect: clean
// launch: grid=3 block=256
// A tree in global memory.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    float *mine = out + blockIdx.x * 256;
    int t = threadIdx.x;
    mine[t] = in[blockIdx.x * 256 + t];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            mine[t] += mine[t + half];
    }
    __syncthreads();
    if (t > 200)
        out[4096 + blockIdx.x * 64 + t - 201] = mine[0];
}
