// expect: clean
// launch: block=64
// Arrive early, wait late, work in between that touches nothing shared.
#include <cuda/barrier>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[2][64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    float v = 0;
    for (int k = 0; k < 5; k++) {
        s[k & 1][t] = in[i + k];
        auto token = bar.arrive();
        v = v * 0.5f + k;
        bar.wait(std::move(token));
        v += s[k & 1][63 - t];
    }
    out[i] = v;
}
