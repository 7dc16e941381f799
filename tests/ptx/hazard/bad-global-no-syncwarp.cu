// expect: lockstep line 9/8
// launch: grid=2 block=32
// Lanes of a warp exchange through global memory without __syncwarp().
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    float *mine = out + blockIdx.x * 32;
    mine[t] = in[t];
    out[4096 + blockIdx.x * 32 + t] = mine[t ^ 1];
}
