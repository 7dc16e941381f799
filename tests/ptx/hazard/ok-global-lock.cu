// expect: clean
// launch: grid=2 block=64 out=zero
// A lock around a plain sum in global memory, for all threads of all blocks.
__device__ int lock;
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            out[0] += in[t];
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}
