// expect: race-read-after-write line 18/18
// launch: grid=1 block=64
// also: race-write-after-write race-write-after-read
// The lock is given back behind a fence, and taken without one.
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
        sum += in[t];
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (t == 0)
        out[0] = sum;
}
