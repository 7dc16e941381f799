// expect: clean
// launch: grid=2 block=128 out=zero
// A place in the list from an atomic, read after the barrier.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int *count = (int *)out + blockIdx.x;
    float *list = out + 1024 + blockIdx.x * 128;
    int t = threadIdx.x;
    if (in[t] > 2)
        list[atomicAdd(count, 1)] = in[t];
    __syncthreads();
    float sum = 0;
    for (int i = t; i < *count; i += 32)
        sum += list[i];
    out[4096 + blockIdx.x * 128 + t] = sum;
}
