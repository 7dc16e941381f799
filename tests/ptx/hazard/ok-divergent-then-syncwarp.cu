// expect: clean
// launch: block=32
// Odd and even lanes take different ways and meet at __syncwarp in both.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = in[i];
    float v;
    if (t & 1) {
        v = sinf(s[t]);
        __syncwarp();
        v += s[t ^ 1];
    } else {
        v = s[t] * 2.f;
        __syncwarp();
        v -= s[t ^ 1];
    }
    out[i] = v;
}
