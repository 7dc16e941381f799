// expect: clean
// launch: block=128 shared=1536
// Three arrays carved out of dynamic shared memory.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    extern __shared__ float pool[];
    float *a = pool, *b = pool + 128, *c = b + 128;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    a[t] = in[i];
    b[127 - t] = in[i + 1];
    __syncthreads();
    c[t] = a[127 - t] + b[t];
    __syncthreads();
    out[i] = c[t ^ 5];
}
