// expect: clean
// launch: block=64
// Lanes with equal keys form groups of their own, by __match_any_sync, and synchronise in them.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, lane = t & 31, i = blockIdx.x * 64 + t;
    int key = (int)in[i] & 3;
    unsigned group = __match_any_sync(0xffffffffu, key);
    s[t] = lane;
    __syncwarp(group);
    int leader = __ffs(group) - 1;
    int v = s[(t & ~31) | leader];
    __syncwarp(group);
    if (lane == leader)
        s[t] = v + 1;
    __syncwarp(group);
    out[i] = s[(t & ~31) | leader] + __popc(group);
}
