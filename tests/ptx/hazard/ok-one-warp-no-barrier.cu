// expect: clean
// launch: grid=4 block=32
// A whole block in one warp: only __syncwarp, and a rotating exchange through shared memory.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    float v = in[blockIdx.x * 32 + t];
    for (int i = 0; i < 8; i++) {
        s[t] = v;
        __syncwarp();
        v += s[(t + 5) & 31];
        __syncwarp();
    }
    out[blockIdx.x * 32 + t] = v;
}
