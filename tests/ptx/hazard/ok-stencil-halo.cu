// expect: clean
// launch: grid=3 block=64
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[66];
    int t = threadIdx.x, i = 1 + blockIdx.x * 64 + t;
    s[t + 1] = in[i];
    if (t == 0)
        s[0] = in[i - 1];
    if (t == 63)
        s[65] = in[i + 1];
    __syncthreads();
    out[i] = s[t] + s[t + 1] + s[t + 2];
}
