// expect: clean
// launch: block=128
// Ranks by ballot, counters per warp, one barrier, scatter through shared memory.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ int ones[4];
    __shared__ float s[128];
    int t = threadIdx.x, lane = t & 31, warp = t / 32, i = blockIdx.x * 128 + t;
    bool bit = (int)in[i] & 1;
    unsigned votes = __ballot_sync(~0u, bit);
    if (!lane)
        ones[warp] = __popc(votes);
    __syncthreads();
    int before = 0, total = 0;
    for (int w = 0; w < 4; w++) {
        before += w < warp ? ones[w] : 0;
        total += ones[w];
    }
    int rank = before + __popc(votes & ((1u << lane) - 1));
    s[bit ? 128 - total + rank : t - rank] = in[i];
    __syncthreads();
    out[i] = s[t];
}
