// cuda::pipeline with two stages, shared by the block.
// launch: grid=2 block=64
// in: 2048 u32
// out: 2048 u32
#include <cuda/pipeline>
extern "C" __global__ void k(unsigned *out, const unsigned *in)
{
    __shared__ alignas(16) unsigned tile[2][64];
    auto pipe = cuda::make_pipeline();
    const unsigned *from = in + blockIdx.x * 1024;
    auto load = [&](int t) {
        pipe.producer_acquire();
        cuda::memcpy_async(&tile[t % 2][threadIdx.x], from + t * 64 + threadIdx.x,
                           sizeof(unsigned), pipe);
        pipe.producer_commit();
    };
    load(0);
    for (int t = 0; t < 16; t++) {
        if (t + 1 < 16)
            load(t + 1);
        if (t + 1 < 16)
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        else
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        __syncthreads();
        out[blockIdx.x * 1024 + t * 64 + threadIdx.x] = tile[t % 2][63 - threadIdx.x] ^ t;
        pipe.consumer_release();
        __syncthreads();
    }
}
