// expect: race-read-after-write line 9/8
// launch: block=64
// The exchange goes through global memory, and nobody waits for the other warp's half.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    float *mine = out + blockIdx.x * 64;
    mine[t] = in[t] * 2;
    out[4096 + blockIdx.x * 64 + t] = mine[t ^ 32] + 1;
}
