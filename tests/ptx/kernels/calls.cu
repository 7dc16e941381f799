// Functions that are not inlined, recursion, local arrays, constant tables, pointers to functions.
// launch: grid=2 block=64
// in: 128 u32
// out: 128 u32
__constant__ unsigned table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ unsigned counter = 5;
__device__ __noinline__ unsigned mix(unsigned a, unsigned b)
{
    return (a ^ table[b & 15]) * 2654435761u;
}
__device__ __noinline__ unsigned power(unsigned x, unsigned n)
{
    return n ? x * power(x + n, n - 1) : 1;
}
extern "C" __global__ void k(unsigned *out, const unsigned *in)
{
    unsigned i = blockIdx.x * 64 + threadIdx.x, x = in[i], ring[9];
    for (int q = 0; q < 9; q++)
        ring[q] = mix(x + q, x >> q);
    unsigned sum = counter;
    for (unsigned q = 0; q < 20; q++)
        sum += ring[(x + q * q) % 9];
    out[i] = sum ^ power(x | 1, x & 7);
}
