// expect: race-write-after-write line 12/8
// launch: block=128
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float total;
    int t = threadIdx.x;
    if (t == 0)
        total = 0;
    __syncwarp();
    float sum = in[blockIdx.x * 128 + t];
    if (t % 32 == 0)
        atomicAdd(&total, sum);
    __syncthreads();
    out[blockIdx.x * 128 + t] = total;
}
