// expect: clean
// launch: block=256
// Many threads set one flag to the same value: harmless.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ int found;
    int t = threadIdx.x;
    if (t == 0)
        found = 0;
    __syncthreads();
    if (in[blockIdx.x * 256 + t] > 3.f)
        found = 1;
    __syncthreads();
    out[blockIdx.x * 256 + t] = found;
}
