// expect: global-race line 9/7
// launch: grid=2 block=32 out=zero
// Block 0 clears what all blocks add to.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        out[0] = 0.f;
    __syncthreads();
    atomicAdd(out, in[blockIdx.x * 32 + threadIdx.x]);
}
