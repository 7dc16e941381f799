// expect: race-read-after-write line 13/12
// launch: block=128
// also: lockstep race-write-after-read
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ int found;
    int t = threadIdx.x;
    if (t == 0)
        found = 0;
    __syncthreads();
    if (in[blockIdx.x * 128 + t] > 3.f)
        found = 1;
    out[blockIdx.x * 128 + t] = found;
}
