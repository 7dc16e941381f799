// Atomics whose result does not depend on the order, at block and device scope, and a lock-free maximum.
// launch: grid=4 block=96
// in: 384 u32
// out: 48 u32
extern "C" __global__ void k(unsigned *out, const unsigned *in)
{
    unsigned x = in[blockIdx.x * 96 + threadIdx.x];
    __shared__ unsigned s[4];
    if (threadIdx.x < 4)
        s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd_block(&s[x & 3], x >> 2);
    atomicXor(&out[x & 7], x);
    atomicMax(&out[8 + (x & 7)], x);
    atomicOr(&out[16 + (x >> 3 & 7)], 1u << (x & 31));
    atomicAdd(reinterpret_cast<unsigned long long *>(out + 24) + (x & 3), (unsigned long long)x << 8);
    unsigned old = atomicAdd(&out[32], 0), seen;
    do {
        seen = old;
        old = atomicCAS(&out[32], seen, seen > x ? seen : x);
    } while (old != seen);
    __syncthreads();
    if (threadIdx.x < 4 && blockIdx.x < 2)
        out[40 + blockIdx.x * 4 + threadIdx.x] = s[threadIdx.x];
}
