// expect: clean
// launch: block=128
// Two buffers, one barrier per step.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[2][128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, p = 0;
    s[0][t] = in[i];
    __syncthreads();
    for (int d = 1; d < 128; d <<= 1) {
        s[p ^ 1][t] = s[p][t] + (t >= d ? s[p][t - d] : 0.f);
        p ^= 1;
        __syncthreads();
    }
    out[i] = s[p][t];
}
