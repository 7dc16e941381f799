// expect: race-read-after-write line 9/8
// launch: block=128
// Chars: the word is shared legally, the byte is not.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ unsigned char c[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    c[t] = (unsigned char)in[i];
    out[i] = c[(t + 32) & 127];
}
