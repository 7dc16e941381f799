// expect: race-write-after-write line 7/7
// launch: grid=1 block=32
// Two lanes of one store name the same element.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    out[t / 2] = in[t] + t;
}
