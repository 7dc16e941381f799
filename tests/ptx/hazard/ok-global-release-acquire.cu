// expect: clean
// launch: grid=1 block=64 out=zero
#include <cuda/atomic>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*(int *)(out + 8192));
    int t = threadIdx.x;
    if (t < 32) {
        out[t] = in[t];
        ready.fetch_add(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) < 32)
            ;
        out[1024 + t] = out[t - 32];
    }
}
