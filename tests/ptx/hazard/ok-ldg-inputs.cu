// expect: clean
// launch: grid=2 block=64 out=zero
// Through the read-only path: an input, and the half of an array that nobody writes.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float x = __ldg(&in[i]) + __ldg(&out[8192 + i]);
    out[i] = x;
    __syncthreads();
    out[4096 + i] = out[i ^ 32] + __ldg(&out[8192 + i]);
}
