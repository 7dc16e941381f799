/* What the lab gives you. Your kernel gets it with #include "lab.h"; read
 * it, but change nothing: Stride uses its own copy.
 *
 * C = A * B, all row-major: A is m x k, B is k x n, C is m x n. The shape is
 * fixed: a block has 256 threads and makes a tile of C of 128 rows and 64
 * columns, block (x, y) the one that starts at row 128 y and column 64 x.
 * m is a multiple of 128, n of 64 and k of 32, so there are no ragged edges. */
#ifndef STRIDE_LAB_SGEMM_H
#define STRIDE_LAB_SGEMM_H

#ifdef __CUDACC__
constexpr int kThreads = 256;
constexpr int kTileM = 128; // rows of C that a block makes
constexpr int kTileN = 64;  // columns of C that a block makes
constexpr int kSlabK = 16;  // columns of A and rows of B staged at a time

/* Four floats at once. The address must be a multiple of 16. */
__device__ __forceinline__ float4 load4(const float *from)
{
    return *reinterpret_cast<const float4 *>(from);
}

__device__ __forceinline__ void store4(float *to, float4 four)
{
    *reinterpret_cast<float4 *>(to) = four;
}
#endif

#endif
