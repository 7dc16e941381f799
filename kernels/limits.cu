// What this card can do at most: Stride measures these in the same run as the
// student's kernel and shows how close it came.

// Each thread moves four times 16 bytes: four loads are in flight before the
// first store needs one of them.
extern "C" __global__ void limitCopy(const float4 *from, float4 *to,
                                     unsigned long long count)
{
    const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    float4 held[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first + k * blockDim.x < count)
            held[k] = from[first + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first + k * blockDim.x < count)
            to[first + k * blockDim.x] = held[k];
}

// One time 16 bytes for each thread: better on some cards.
extern "C" __global__ void limitCopyPlain(const float4 *from, float4 *to,
                                          unsigned long long count)
{
    const unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i];
}

// Reading alone, for kernels that write next to nothing. The words are folded
// into one; it would be stored only if it were `never`, which the compiler
// can't know and no data of ours gives, so every load stays and nothing else
// is written.
__device__ void foldIn(unsigned &fold, uint4 q)
{
    fold ^= q.x ^ q.y ^ q.z ^ q.w;
}

// Four loads of 16 bytes for each thread, in as many blocks as that takes.
extern "C" __global__ void limitRead(const uint4 *from, unsigned *to,
                                     unsigned long long count, unsigned never)
{
    const unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x * 4 + threadIdx.x;
    uint4 held[4] = {};
    unsigned fold = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first + k * blockDim.x < count)
            held[k] = from[first + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        foldIn(fold, held[k]);
    if (fold == never)
        *to = fold;
}

// The same loads by as many blocks as fill the card, which stride on: better on
// some cards.
extern "C" __global__ void limitReadStriding(const uint4 *from, unsigned *to,
                                             unsigned long long count, unsigned never)
{
    const unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned fold = 0;
    for (; i + 3 * step < count; i += 4 * step) {
        const uint4 a = from[i], b = from[i + step];
        const uint4 c = from[i + 2 * step], d = from[i + 3 * step];
        foldIn(fold, a);
        foldIn(fold, b);
        foldIn(fold, c);
        foldIn(fold, d);
    }
    for (; i < count; i += step)
        foldIn(fold, from[i]);
    if (fold == never)
        *to = fold;
}

// 8 chains of 4 * rounds FMAs in each thread; the store keeps them alive.
extern "C" __global__ void limitFma(float *out, int rounds)
{
    float chain[8];
#pragma unroll
    for (int k = 0; k < 8; ++k)
        chain[k] = threadIdx.x + k;
    for (int i = 0; i < rounds; ++i) {
#pragma unroll
        for (int k = 0; k < 32; ++k)
            chain[k % 8] = fmaf(chain[k % 8], 0.999f, 0.001f);
    }
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        sum += chain[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The Tensor Cores at TF32: 4 accumulators in each warp, 4 * rounds MMAs of
// 16 x 8 x 8.
extern "C" __global__ void limitTensor(float *out, int rounds)
{
#if __CUDA_ARCH__ >= 800
    float sum[4][4] = {};
    const unsigned a = __float_as_uint(1.0f + threadIdx.x), b = __float_as_uint(0.5f);
    for (int i = 0; i < rounds; ++i) {
#pragma unroll
        for (int k = 0; k < 4; ++k)
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                         "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};"
                         : "+f"(sum[k][0]), "+f"(sum[k][1]), "+f"(sum[k][2]), "+f"(sum[k][3])
                         : "r"(a), "r"(b));
    }
    float total = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
        total += sum[k][0] + sum[k][1] + sum[k][2] + sum[k][3];
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
#endif
}
