// expect: clean
// launch: grid=2 block=128
// Threads behind the end leave; the others go on to the barriers. Legal since Volta.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (i >= 200)
        return;
    s[t] = in[i];
    __syncthreads();
    int left = min(128, 200 - (int)blockIdx.x * 128);
    out[i] = s[(t + 1) % left];
    __syncthreads();
    s[t] = 0;
}
