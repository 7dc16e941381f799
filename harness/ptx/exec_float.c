/* Single and double precision. NaN results of single precision are the hardware's canonical one.
 * The plain round-to-nearest forms are vectors; .ftz, .sat and directed rounding take the slower
 * road. */
#include "harness/ptx/handlers.h"

#include "harness/ptx/float.h"

#include <math.h>

/* Lane masks: equal, which a NaN is not even to itself. */
static inline vu32 equal32(vf32 x, vf32 y)
{
    return (vu32)(x == y);
}

static inline vu64 equal64(vf64 x, vf64 y)
{
    return (vu64)(x == y);
}

static inline vu32 canonical(vf32 x)
{
    return v32_pick(equal32(x, x), (vu32)x, v32_set(NAN_F32));
}

/* Double precision passes a NaN on, made quiet: of several the first of x, y, z. The hardware's
 * sums and products prefer their last operand, a fused one the second factor, then the summand;
 * division (a program) its first. An invalid operation gives the negative one. */
static inline vu64 passed64(vf64 r, vf64 x, vf64 y, vf64 z)
{
    const vu64 quiet = v64_set(1ull << 51);
    vu64 nan = v64_pick(
        ~equal64(x, x), (vu64)x | quiet,
        v64_pick(~equal64(y, y), (vu64)y | quiet,
                 v64_pick(~equal64(z, z), (vu64)z | quiet, v64_set(0xfff8000000000000ull))));
    return v64_pick(equal64(r, r), (vu64)r, nan);
}

static inline double passed(double r, double x, double y, double z)
{
    if (r == r)
        return r;
    double first = x != x ? x : y != y ? y : z;
    return bits_f64(first != first ? f64_bits(first) | 1ull << 51 : 0xfff8000000000000ull);
}

static inline vf32 fma_vector(vf32 x, vf32 y, vf32 z)
{
#if defined(V_AVX512)
    return (vf32)_mm512_fmadd_ps((__m512)x, (__m512)y, (__m512)z);
#elif defined(V_AVX2)
    return (vf32)_mm256_fmadd_ps((__m256)x, (__m256)y, (__m256)z);
#else
    vf32 r;
    for (int i = 0; i < V32_LANES; i++)
        r[i] = fmaf(x[i], y[i], z[i]);
    return r;
#endif
}

static inline vf64 fma_vector64(vf64 x, vf64 y, vf64 z)
{
#if defined(V_AVX512)
    return (vf64)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
#elif defined(V_AVX2)
    return (vf64)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#else
    vf64 r;
    for (int i = 0; i < V64_LANES; i++)
        r[i] = fma(x[i], y[i], z[i]);
    return r;
#endif
}

VECTOR2(add_f32, 32, vf32, canonical(x + y))
VECTOR2(sub_f32, 32, vf32, canonical(x - y))
VECTOR2(mul_f32, 32, vf32, canonical(x *y))
VECTOR2(div_f32, 32, vf32, canonical(x / y))
VECTOR3(fma_f32, 32, vf32, canonical(fma_vector(x, y, z)))
VECTOR2(add_f64, 64, vf64, passed64(x + y, y, x, x))
VECTOR2(sub_f64, 64, vf64, passed64(x - y, y, x, x))
VECTOR2(mul_f64, 64, vf64, passed64(x *y, y, x, x))
VECTOR2(div_f64, 64, vf64, passed64(x / y, x, y, y))
VECTOR3(fma_f64, 64, vf64, passed64(fma_vector64(x, y, z), y, z, x))
/* neg and abs are additions for the hardware: NaN becomes what an addition makes of it, and of
 * double precision keeps its sign. */
VECTOR1(neg_f32, 32, vf32, canonical(-x))
VECTOR1(abs_f32, 32, vf32, canonical((vf32)((vu32)x & 0x7fffffffu)))
VECTOR1(neg_f64, 64, vf64, passed64(-x, x, x, x))
VECTOR1(abs_f64, 64, vf64, passed64((vf64)((vu64)x & ~(1ull << 63)), x, x, x))
VECTOR2(copysign_f32, 32, vu32, (y & 0x7fffffffu) | (x & 0x80000000u))
VECTOR2(copysign_f64, 64, vu64, (y & ~(1ull << 63)) | (x & 1ull << 63))
UNARY(sqrt_f32, u32, f32, canonical_f32(sqrtf(x)))
UNARY(sqrt_f64, f64, f64, passed(sqrt(x), x, x, x))
UNARY(neg_ftz_f32, u32, u32, canonical_f32(bits_f32(flush_bits(x) ^ 0x80000000u)))
UNARY(abs_ftz_f32, u32, u32, canonical_f32(bits_f32(flush_bits(x) & 0x7fffffffu)))

/* ---- modifiers */

static inline f32 in_f32(const struct op *op, f32 x)
{
    return op->flags & OP_FTZ ? bits_f32(flush_bits(f32_bits(x))) : x;
}

static inline u32 out_f32(const struct op *op, f32 x)
{
    u32 bits = canonical_f32(x);
    if (op->flags & OP_FTZ)
        bits = flush_bits(bits);
    return op->flags & OP_SAT ? f32_bits(saturate_f32(bits_f32(bits))) : bits;
}

#define ANY1(name, EXPR) UNARY(name, u32, f32, out_f32(op, (x = in_f32(op, x), EXPR)))
#define ANY2(name, EXPR)                                                                           \
    BINARY(name, u32, f32, out_f32(op, (x = in_f32(op, x), y = in_f32(op, y), EXPR)))
#define ANY3(name, EXPR)                                                                           \
    TERNARY(name, u32, f32,                                                                        \
            out_f32(op, (x = in_f32(op, x), y = in_f32(op, y), z = in_f32(op, z), EXPR)))

/* mode: enum rounding */
ANY2(add_any_f32, op->mode <= ROUND_RN ? x + y : add_f32_rounded(x, y, op->mode))
ANY2(sub_any_f32, op->mode <= ROUND_RN ? x - y : add_f32_rounded(x, -y, op->mode))
ANY2(mul_any_f32, op->mode <= ROUND_RN ? x * y : mul_f32_rounded(x, y, op->mode))
ANY3(fma_any_f32, op->mode <= ROUND_RN ? fmaf(x, y, z) : fma_f32_rounded(x, y, z, op->mode))
ANY2(div_any_f32, op->mode <= ROUND_RN ? x / y : div_f32_rounded(x, y, op->mode))
ANY1(sqrt_any_f32, op->mode <= ROUND_RN ? sqrtf(x) : sqrt_f32_rounded(x, op->mode))
ANY1(rcp_any_f32, op->mode <= ROUND_RN ? 1.0f / x : div_f32_rounded(1.0f, x, op->mode))

BINARY(add_any_f64, f64, f64, passed(add_f64_rounded(x, y, op->mode), y, x, x))
BINARY(sub_any_f64, f64, f64, passed(add_f64_rounded(x, -y, op->mode), y, x, x))
BINARY(mul_any_f64, f64, f64, passed(mul_f64_rounded(x, y, op->mode), y, x, x))
TERNARY(fma_any_f64, f64, f64, passed(fma_f64_rounded(x, y, z, op->mode), y, z, x))
BINARY(div_any_f64, f64, f64, passed(div_f64_rounded(x, y, op->mode), x, y, y))
UNARY(sqrt_any_f64, f64, f64, passed(sqrt_f64_rounded(x, op->mode), x, x, x))
UNARY(rcp_any_f64, f64, f64, passed(div_f64_rounded(1.0, x, op->mode), x, x, x))

/* ---- minimum and maximum */

/* One NaN loses against a number; -0 is less than +0. */
static inline vu32 min_vector(vf32 x, vf32 y)
{
    vu32 less = v32_pick((vu32)(x == y), (vu32)((vs32)x < (vs32)y), (vu32)(x < y));
    vu32 r = v32_pick(less | ~equal32(y, y), (vu32)x, (vu32)y);
    return canonical((vf32)r);
}

static inline vu32 max_vector(vf32 x, vf32 y)
{
    vu32 more = v32_pick((vu32)(x == y), (vu32)((vs32)x > (vs32)y), (vu32)(x > y));
    vu32 r = v32_pick(more | ~equal32(y, y), (vu32)x, (vu32)y);
    return canonical((vf32)r);
}

VECTOR2(min_f32, 32, vf32, min_vector(x, y))
VECTOR2(max_f32, 32, vf32, max_vector(x, y))

static inline f32 min_scalar(f32 x, f32 y, unsigned mode)
{
    if (x != x || y != y) {
        if (mode & 1) /* .NaN */
            return bits_f32(NAN_F32);
        return x != x ? y : x;
    }
    return x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

static inline f32 minmax(f32 x, f32 y, unsigned mode)
{
    u32 sign = (f32_bits(x) ^ f32_bits(y)) & 0x80000000u;
    if (mode & 2) { /* .xorsign.abs */
        x = fabsf(x);
        y = fabsf(y);
    }
    f32 r = mode & 4 ? -min_scalar(-x, -y, mode) : min_scalar(x, y, mode);
    return r == r && mode & 2 ? bits_f32((f32_bits(r) & 0x7fffffffu) | sign) : r;
}

/* imm: bit 0 .NaN, bit 1 .xorsign.abs, bit 2 maximum */
ANY2(minmax_any_f32, minmax(x, y, (unsigned)op->imm))

static inline f64 min_f64(f64 x, f64 y)
{
    if (x != x)
        return y == y ? y : bits_f64(f64_bits(y) | 1ull << 51);
    if (y != y)
        return x;
    return x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

BINARY(min_f64, f64, f64, min_f64(x, y))
BINARY(max_f64, f64, f64, -min_f64(-x, -y))

/* ---- approximations (errors: float.h) */

ANY1(rcp_approx_f32, 1.0f / x)
ANY1(sqrt_approx_f32, sqrtf(x))
ANY1(rsqrt_approx_f32, approx_rsqrt(x))
ANY1(ex2_approx_f32, approx_ex2(x))
ANY1(lg2_approx_f32, approx_lg2(x))
ANY1(sin_approx_f32, approx_sin(x))
ANY1(cos_approx_f32, approx_cos(x))
ANY1(tanh_approx_f32, approx_tanh(x))

/* Divisors between 2^126 and 2^128 give 0 (or NaN for infinities), as the ISA says of div.approx.
 */
static inline f32 div_approx(f32 x, f32 y)
{
    f32 size = fabsf(y);
    if (size > 0x1p126f && isfinite(y))
        return isinf(x) ? NAN : copysignf(0, x) * copysignf(1, y);
    return x / y;
}

ANY2(div_approx_f32, div_approx(x, y))

/* The upper half of the word only; the lower 32 bits of the result are zero. */
static inline f64 upper(f64 x)
{
    return bits_f64(f64_bits(x) & 0xffffffff00000000ull);
}

static inline f64 flushed_f64(f64 x)
{
    return f64_bits(x) & 0x7ff0000000000000ull ? x : copysign(0, x);
}

/* Of the .ftz forms, which are one instruction, every NaN result is this one. */
static inline f64 approx_f64(f64 r)
{
    return r == r ? upper(flushed_f64(r)) : bits_f64(0x7fffffff00000000ull);
}

UNARY(rcp_approx_f64, f64, f64, approx_f64(1.0 / flushed_f64(upper(x))))
UNARY(rsqrt_approx_ftz_f64, f64, f64, approx_f64(1.0 / sqrt(flushed_f64(upper(x)))))
UNARY(rsqrt_approx_f64, f64, f64, upper(flushed_f64(1.0 / sqrt(flushed_f64(upper(x))))))
