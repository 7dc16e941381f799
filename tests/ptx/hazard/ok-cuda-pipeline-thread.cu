// expect: clean
// launch: block=128
#include <cuda/pipeline>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[2][128];
    int t = threadIdx.x;
    auto pipe = cuda::make_pipeline();
    float v = 0;
    for (int fetch = 0, k = 0; k < 4; k++) {
        for (; fetch < 4 && fetch < k + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[fetch & 1][t], in + (blockIdx.x * 4 + fetch) * 128 + t,
                               sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        v += s[k & 1][127 - t];
        __syncthreads();
        pipe.consumer_release();
    }
    out[blockIdx.x * 128 + t] = v;
}
