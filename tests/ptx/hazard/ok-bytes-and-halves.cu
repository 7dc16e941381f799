// expect: clean
// launch: block=128
// Neighbours store chars and shorts into one word: that is no conflict.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ unsigned char c[128];
    __shared__ unsigned short h[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    c[t] = (unsigned char)in[i];
    h[t] = (unsigned short)in[i];
    c[t] += 1;
    unsigned own = c[t] + h[t];
    __syncthreads();
    unsigned word = ((unsigned *)c)[t / 4];
    __syncthreads();
    c[t] = (unsigned char)word;
    __syncthreads();
    out[i] = own + c[127 - t] + h[t ^ 1] + (word >> 8);
}
