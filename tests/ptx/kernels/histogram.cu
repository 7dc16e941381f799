// Histogram of bytes: shared atomics, then global ones.
// launch: grid=4 block=128
// in: 2048 u32
// out: 256 u32
extern "C" __global__ void k(unsigned *out, const unsigned *in)
{
    __shared__ unsigned bins[256];
    for (int b = threadIdx.x; b < 256; b += 128)
        bins[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += 128) {
        unsigned x = in[blockIdx.x * 512 + i];
        for (int byte = 0; byte < 4; byte++)
            atomicAdd(&bins[x >> 8 * byte & 255], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += 128)
        if (bins[b])
            atomicAdd(&out[b], bins[b]);
}
