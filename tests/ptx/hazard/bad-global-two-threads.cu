// expect: race-write-after-write line 8/8
// launch: grid=3 block=128
// Threads of one block share an element of the output; blocks do not.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    float x = in[t];
    out[blockIdx.x * 64 + t % 64] = x + t;
}
