// expect: clean
// launch: block=96
// bar.red is a barrier too.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    s[t] = in[i];
    int many = __syncthreads_count(in[i] > 2.f);
    out[i] = s[95 - t] + many;
    if (__syncthreads_or(t == 3))
        s[t] = 1.f;
}
