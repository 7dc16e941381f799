// expect: clean
// launch: grid=6 block=64 out=zero
// Single-pass scan: volatile state, fences, spinning on the block before.
__device__ unsigned ticket;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ int sums[2];
    __shared__ int bid, before;
    volatile unsigned long long *state = (volatile unsigned long long *)(out + 8192);
    int t = threadIdx.x, lane = t & 31;
    if (t == 0)
        bid = atomicAdd(&ticket, 1);
    __syncthreads();
    int v = (int)in[bid * 64 + t];
    for (int o = 1; o < 32; o <<= 1) {
        int y = __shfl_up_sync(0xffffffffu, v, o);
        if (lane >= o)
            v += y;
    }
    if (lane == 31)
        sums[t / 32] = v;
    __syncthreads();
    if (t >= 32)
        v += sums[0];
    if (t == 0) {
        int prefix = 0;
        if (bid) {
            unsigned long long s;
            do {
                s = state[bid - 1];
            } while (!(s >> 32));
            prefix = (int)s;
        }
        before = prefix;
        __threadfence();
        state[bid] = 1ull << 32 | (unsigned)(prefix + sums[0] + sums[1]);
    }
    __syncthreads();
    out[bid * 64 + t] = v + before;
}
