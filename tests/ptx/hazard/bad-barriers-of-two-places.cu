// expect: barrier-mismatch line 10/14
// launch: block=64
// Two warps at two barriers that release each other.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = in[i];
    if (t < 32) {
        __syncthreads();
        out[i] = s[t + 32];
    } else {
        out[i] = 0.f;
        __syncthreads();
        out[i] = s[t - 32] * 3.f;
    }
}
