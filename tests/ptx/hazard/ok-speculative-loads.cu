// expect: clean
// launch: block=64
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float a, b, c[4];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    bool big = in[1] > 1000.f;
    if (t == 0) {
        a = in[0];
        if (big) {
            b = in[2];
            c[2] = in[3];
        }
    }
    __syncthreads();
    float v = a;
    if (big)
        v += b;
    v = big ? v * c[2] : v;
    float w = t == 3 ? c[1] : 0.f;
    out[i] = (in[2] > 1000.f ? w : 0.f) + v;
}
