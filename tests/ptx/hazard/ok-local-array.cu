// expect: clean
// launch: block=32
// A local array, indexed by data, all of it set before.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    float a[16];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    for (int k = 0; k < 16; k++)
        a[k] = in[i + k];
    float v = 0;
    for (int k = 0; k < 16; k++)
        v += a[((int)in[i] + k * 5) & 15];
    out[i] = v;
}
