// expect: race-write-after-write line 10/9
// launch: grid=2 block=64
// One thread clears the counter, the others count at once.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    float *sum = out + blockIdx.x;
    if (t == 0)
        *sum = 0;
    atomicAdd(sum, in[t]);
}
