// expect: clean
// launch: block=256
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ bool found[4];
    int t = threadIdx.x;
    if (t < 4)
        found[t] = false;
    __syncthreads();
    if (in[blockIdx.x * 256 + t] > 3.f)
        found[t & 3] = true;
    __syncthreads();
    out[blockIdx.x * 256 + t] = found[0] + found[1] + found[2] + found[3];
}
