// expect: uninitialised line 17
// launch: block=64
// The same selections as in ok-speculative-loads.cu, and they take what was never set.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float a, b;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    bool big = in[1] < 1000.f;
    if (t == 0) {
        a = in[0];
        if (!big)
            b = in[2];
    }
    __syncthreads();
    float v = a;
    if (big)
        v += b;
    out[i] = v;
}
