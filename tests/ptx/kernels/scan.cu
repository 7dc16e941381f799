// Inclusive scan of each block: warps by shuffles, then their sums.
// launch: grid=3 block=256
// in: 768 u32
// out: 768 u32
extern "C" __global__ void k(unsigned *out, const unsigned *in)
{
    __shared__ unsigned sums[8];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned i = blockIdx.x * 256 + threadIdx.x, x = in[i];
    for (unsigned offset = 1; offset < 32; offset *= 2) {
        unsigned left = __shfl_up_sync(~0u, x, offset);
        x += lane >= offset ? left : 0;
    }
    if (lane == 31)
        sums[warp] = x;
    __syncthreads();
    if (warp == 0 && lane < 8) {
        unsigned s = sums[lane];
        for (unsigned offset = 1; offset < 8; offset *= 2) {
            unsigned left = __shfl_up_sync(0xff, s, offset);
            s += lane >= offset ? left : 0;
        }
        sums[lane] = s;
    }
    __syncthreads();
    out[i] = x + (warp ? sums[warp - 1] : 0);
}
