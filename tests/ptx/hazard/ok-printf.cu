// expect: clean
// launch: grid=1 block=64
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t % 16 == 0)
        printf("%d: %f %s\n", t, s[63 - t], t ? "more" : "first");
    out[t] = s[63 - t];
}
