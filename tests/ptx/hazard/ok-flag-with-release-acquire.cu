// expect: clean
// launch: block=64
// Warp 0 hands a value to warp 1 with cuda::atomic_ref: release there, acquire here.
#include <cuda/atomic>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[32];
    __shared__ int flag;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block> f(flag);
    if (t < 32) {
        s[t] = in[blockIdx.x * 32 + t];
        __syncwarp();
        if (t == 0)
            f.store(1, cuda::memory_order_release);
    } else {
        while (!f.load(cuda::memory_order_acquire))
            ;
        __syncwarp();
        out[blockIdx.x * 32 + t - 32] = s[63 - t];
    }
}
