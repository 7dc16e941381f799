// expect: clean
// launch: grid=2 block=64
// A lock in shared memory, taken by one thread of each warp, with fences.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ int lock;
    __shared__ float sum;
    int t = threadIdx.x;
    if (t == 0) {
        lock = 0;
        sum = 0;
    }
    __syncthreads();
    if ((t & 31) == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
        __threadfence_block();
        sum += in[blockIdx.x * 64 + t];
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = sum;
}
