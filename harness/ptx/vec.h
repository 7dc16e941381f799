/* Vectors at the machine's own width. The interpreter's hot files are compiled once per instruction
 * set (SSE2, AVX2, AVX-512); this header gives them one vocabulary.
 *
 * A 32-bit register of a warp is 32 lanes = 128 bytes = V32_COUNT vectors of V_BYTES.
 *
 * Nothing here allocates or branches on the CPU at run time; choosing the build is run.c's job. */
#ifndef STRIDE_PTX_VEC_H
#define STRIDE_PTX_VEC_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#define V_AVX512  1
#define V_BYTES   64
#define ISA(name) name##_avx512
#elif defined(__AVX2__)
#define V_AVX2    1
#define V_BYTES   32
#define ISA(name) name##_avx2
#else
#define V_BYTES   16
#define ISA(name) name##_base
#endif

enum {
    V32_LANES = V_BYTES / 4,
    V32_COUNT = 128 / V_BYTES,
    V64_LANES = V_BYTES / 8,
    V64_COUNT = 256 / V_BYTES
};

/* GCC vector types are typedefs by nature; loads and stores go through them at any 4-byte address.
 */
typedef uint32_t vu32 __attribute__((vector_size(V_BYTES)));
typedef int32_t vs32 __attribute__((vector_size(V_BYTES)));
typedef float vf32 __attribute__((vector_size(V_BYTES)));
typedef uint64_t vu64 __attribute__((vector_size(V_BYTES)));
typedef int64_t vs64 __attribute__((vector_size(V_BYTES)));
typedef double vf64 __attribute__((vector_size(V_BYTES)));

#define FULL_MASK 0xffffffffu

static inline vu32 v32_set(uint32_t x)
{
    return (vu32){0} + x;
}

static inline vu64 v64_set(uint64_t x)
{
    return (vu64){0} + x;
}

static inline vu32 v32_load(const void *p)
{
    vu32 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void v32_store(void *p, vu32 v)
{
    memcpy(p, &v, sizeof v);
}

static inline vu64 v64_load(const void *p)
{
    vu64 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void v64_store(void *p, vu64 v)
{
    memcpy(p, &v, sizeof v);
}

/* Lane numbers 0, 1, 2, ... of the first vector. */
static inline vu32 v32_iota(void)
{
#if V_BYTES == 64
    return (vu32){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif V_BYTES == 32
    return (vu32){0, 1, 2, 3, 4, 5, 6, 7};
#else
    return (vu32){0, 1, 2, 3};
#endif
}

static inline vu64 v64_iota(void)
{
#if V_BYTES == 64
    return (vu64){0, 1, 2, 3, 4, 5, 6, 7};
#elif V_BYTES == 32
    return (vu64){0, 1, 2, 3};
#else
    return (vu64){0, 1};
#endif
}

/* Comparison results (all ones or zero per lane) to a bit per lane. */
static inline uint32_t v32_bits(vs32 c)
{
#if defined(V_AVX512)
    return _mm512_movepi32_mask((__m512i)c);
#elif defined(V_AVX2)
    return (uint32_t)_mm256_movemask_ps((__m256)c);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps((__m128)c);
#else
    uint32_t bits = 0;
    for (int i = 0; i < V32_LANES; i++)
        bits |= (uint32_t)(c[i] & 1) << i;
    return bits;
#endif
}

static inline uint32_t v64_bits(vs64 c)
{
#if defined(V_AVX512)
    return _mm512_movepi64_mask((__m512i)c);
#elif defined(V_AVX2)
    return (uint32_t)_mm256_movemask_pd((__m256d)c);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_pd((__m128d)c);
#else
    uint32_t bits = 0;
    for (int i = 0; i < V64_LANES; i++)
        bits |= (uint32_t)(c[i] & 1) << i;
    return bits;
#endif
}

/* All ones in the lanes whose bit is set in the low V32_LANES (V64_LANES) bits. */
static inline vu32 v32_spread(uint32_t bits)
{
#if defined(V_AVX512)
    return (vu32)_mm512_movm_epi32((__mmask16)bits);
#else
    vu32 one = v32_set(1) << v32_iota();
    return (vu32)((v32_set(bits) & one) != 0);
#endif
}

static inline vu64 v64_spread(uint32_t bits)
{
#if defined(V_AVX512)
    return (vu64)_mm512_movm_epi64((__mmask8)bits);
#else
    vu64 one = v64_set(1) << v64_iota();
    return (vu64)((v64_set(bits) & one) != 0);
#endif
}

static inline vu32 v32_pick(vu32 mask, vu32 yes, vu32 no)
{
    return (yes & mask) | (no & ~mask);
}

/* The words at base + at[lane], in bytes. */
static inline vu32 v32_gather(const uint32_t *base, vu32 at)
{
#if defined(V_AVX512)
    return (vu32)_mm512_i32gather_epi32((__m512i)at, base, 1);
#elif defined(V_AVX2)
    return (vu32)_mm256_i32gather_epi32((const int *)(const void *)base, (__m256i)at, 1);
#else
    vu32 out;
    for (int i = 0; i < V32_LANES; i++)
        memcpy((char *)&out + 4 * i, (const char *)base + at[i], 4);
    return out;
#endif
}

/* Lanes of `mask` store their words; of lanes at one place any may stay. */
static inline void v32_scatter(uint32_t *base, vu32 at, vu32 words, uint32_t mask)
{
#if defined(V_AVX512)
    _mm512_mask_i32scatter_epi32(base, (__mmask16)mask, (__m512i)at, (__m512i)words, 1);
#else
    for (int i = 0; i < V32_LANES; i++)
        if (mask >> i & 1)
            memcpy((char *)base + at[i], (const char *)&words + 4 * i, 4);
#endif
}

static inline vu64 v64_pick(vu64 mask, vu64 yes, vu64 no)
{
    return (yes & mask) | (no & ~mask);
}

#endif
