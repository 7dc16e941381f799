// expect: clean
// launch: grid=2 block=96
// Lanes leave a loop by return and by break before the barrier.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    s[t] = in[i];
    __syncthreads();
    float v = 0;
    for (int k = 0; k < 40; k++) {
        if (k == 20 && t % 7 == 3)
            return;
        if (k > t)
            break;
        v += s[(t + k) % 96];
    }
    __syncthreads();
    out[i] = v;
}
