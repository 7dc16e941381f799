// expect: clean
// launch: block=64
// Two buffers in registers-to-shared style: one barrier per step is enough.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[2][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float v = 0;
    s[0][t] = in[i];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        if (k + 1 < 8)
            s[(k + 1) & 1][t] = in[i + k + 1];
        v += s[k & 1][63 - t];
        __syncthreads();
    }
    out[i] = v;
}
