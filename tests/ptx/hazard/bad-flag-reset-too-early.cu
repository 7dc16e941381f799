// expect: race-write-after-read line 12/17
// launch: block=128
// also: lockstep
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ int found;
    int t = threadIdx.x;
    float v = 0;
#pragma unroll 1
    for (int k = 0; k < 3; k++) {
        if (t == 0)
            found = 0;
        __syncthreads();
        if (in[blockIdx.x * 128 + t + k] > 3.f)
            found = 1;
        __syncthreads();
        v += found;
    }
    out[blockIdx.x * 128 + t] = v;
}
