// expect: clean
// launch: block=64
// One piece of shared memory used as floats, then as ints, then as bytes.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ union {
        float f[64];
        int i[64];
        unsigned char c[256];
    } s;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s.f[t] = in[i];
    __syncthreads();
    float v = s.f[63 - t];
    __syncthreads();
    s.i[63 - t] = (int)v;
    __syncthreads();
    int w = s.i[t ^ 3];
    __syncthreads();
    for (int k = 0; k < 4; k++)
        s.c[k * 64 + t] = (unsigned char)(w + k);
    __syncthreads();
    out[i] = s.i[t];
}
