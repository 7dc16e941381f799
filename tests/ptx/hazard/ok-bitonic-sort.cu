// expect: clean
// launch: block=128
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    __syncthreads();
    for (int k = 2; k <= 128; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1) {
            int p = t ^ j;
            if (p > t) {
                float a = s[t], b = s[p];
                if ((a > b) == !(t & k)) {
                    s[t] = b;
                    s[p] = a;
                }
            }
            __syncthreads();
        }
    out[i] = s[t];
}
