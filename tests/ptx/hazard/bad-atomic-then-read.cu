// expect: race-read-after-write line 13/12
// launch: block=128
// also: lockstep race-write-after-read
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ unsigned count;
    int t = threadIdx.x;
    if (t == 0)
        count = 0;
    __syncthreads();
    if (in[blockIdx.x * 128 + t] > 1.f)
        atomicAdd(&count, 1u);
    out[blockIdx.x * 128 + t] = *(&count);
}
