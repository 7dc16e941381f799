// expect: clean
// launch: grid=4 block=96 out=zero
// NVIDIA's loops around atomicCAS begin with a plain read of the word: a guess that the cas checks.
__device__ void add_float(float *p, float value)
{
    int *word = reinterpret_cast<int *>(p), old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, __float_as_int(value + __int_as_float(seen)));
    } while (old != seen);
}

__device__ double add_double(double *p, double value)
{
    unsigned long long *word = reinterpret_cast<unsigned long long *>(p), old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, __double_as_longlong(value + __longlong_as_double(seen)));
    } while (seen != old);
    return __longlong_as_double(old);
}

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    add_float(&sum, in[threadIdx.x]);
    add_float(&out[0], in[threadIdx.x]);
    add_double(reinterpret_cast<double *>(out) + 1, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0)
        out[8 + blockIdx.x] = sum;
}
