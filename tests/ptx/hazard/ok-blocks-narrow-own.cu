// expect: clean
// launch: grid=4 block=64 out=zero
// Atomics of the block's scope on the block's own number, and then of the device's on everybody's.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int sum = __reduce_add_sync(0xffffffff, (int)in[threadIdx.x]);
    int *totals = reinterpret_cast<int *>(out);
    if (threadIdx.x % 32 == 0)
        atomicAdd_block(&totals[1 + blockIdx.x], sum);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&totals[0], totals[1 + blockIdx.x]);
}
