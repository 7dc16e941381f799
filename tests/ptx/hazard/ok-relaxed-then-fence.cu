// expect: clean
// launch: grid=3 block=64 out=zero
// Relaxed polling with a fence behind it; a barrier or __syncwarp() does as well.
#include <cuda/atomic>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(((int *)out)[8192 + blockIdx.x]);
    __shared__ float s[32];
    float *mine = out + blockIdx.x * 128;
    int t = threadIdx.x;
    if (t < 32) {
        mine[t] = in[t];
        s[t] = in[t] * 2;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        ready.fetch_add(1, cuda::memory_order_relaxed);
    } else {
        if (t == 32)
            while (ready.load(cuda::memory_order_relaxed) < 32)
                ;
        __syncwarp();
        mine[t] = mine[63 - t] + s[t - 32];
        while (ready.load(cuda::memory_order_relaxed) < 32)
            ;
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        mine[64 + t - 32] = mine[t - 32] + s[63 - t];
    }
}
