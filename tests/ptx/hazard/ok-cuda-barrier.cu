// expect: clean
// launch: block=64
#include <cuda/barrier>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0)
        init(&bar, 64);
    __syncthreads();
    float v = 0;
    for (int k = 0; k < 3; k++) {
        s[t] = in[i + k];
        bar.arrive_and_wait();
        v += s[63 - t];
        bar.arrive_and_wait();
    }
    out[i] = v;
}
