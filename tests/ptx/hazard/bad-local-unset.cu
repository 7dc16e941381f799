// expect: uninitialised line 11
// launch: block=32
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    float a[16];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    for (int k = 0; k < 8; k++)
        a[((int)in[i] + k) & 15] = in[i + k];
    float v = 0;
    for (int k = 0; k < 16; k++)
        v += a[((int)in[i + 1] * 3 + k) & 15];
    out[i] = v;
}
