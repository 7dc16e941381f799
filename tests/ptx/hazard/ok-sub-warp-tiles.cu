// expect: clean
// launch: block=64
// Groups of 8 lanes synchronise among themselves, by mask.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x, lane = t & 31, i = blockIdx.x * 64 + t;
    unsigned mask = 0xffu << (lane & 24);
    float v = in[i];
    for (int k = 0; k <= (lane >> 3); k++) { /* each group as often as it likes */
        s[t] = v;
        __syncwarp(mask);
        v += s[(t & ~7) | ((t + 1) & 7)];
        __syncwarp(mask);
    }
    out[i] = v;
}
