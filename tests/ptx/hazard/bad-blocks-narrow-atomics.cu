// expect: global-race line 9/9
// launch: grid=4 block=64 out=zero
// Blocks add to one number, each as if no other block were there.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int sum = __reduce_add_sync(0xffffffff, (int)in[threadIdx.x]);
    int *total = reinterpret_cast<int *>(out);
    if (threadIdx.x % 32 == 0)
        atomicAdd_block(total, sum);
}
