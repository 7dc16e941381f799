/* Number formats and rounding that C has no operators for: halves, bfloats, tf32, directed
 * rounding, and sums that are rounded once.
 *
 * Plain functions of their arguments; nothing is owned and no floating-point state is left changed.
 *
 * They are exact as the PTX ISA says, except where a comment states an error. */
#ifndef STRIDE_PTX_FLOAT_H
#define STRIDE_PTX_FLOAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NAN_F32  0x7fffffffu /* the NaN that single precision operations give */
#define NAN_F16  0x7fffu
#define NAN_BF16 0x7fffu

/* As in op->mode of rounding forms; 0 stands for the form without a modifier. */
enum rounding { ROUND_DEFAULT, ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP };

static inline float bits_f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double bits_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Single precision result with the hardware's NaN. */
static inline uint32_t canonical_f32(float x)
{
    return x == x ? f32_bits(x) : NAN_F32;
}

/* Subnormal to zero of the same sign. */
static inline uint32_t flush_bits(uint32_t bits)
{
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

/* [0, 1], NaN to +0. */
static inline float saturate_f32(float x)
{
    return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f;
}

static inline float f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff;
    if (exponent == 31)
        return bits_f32(sign | (mantissa ? 0x7fc00000u | mantissa << 13 : 0x7f800000u));
    if (exponent)
        return bits_f32(sign | (exponent + 112) << 23 | mantissa << 13);
    float tiny = (float)mantissa * 0x1p-24f;
    return sign ? -tiny : tiny;
}

static inline float bf16_to_f32(uint16_t h)
{
    return bits_f32((uint32_t)h << 16);
}

/* A double to a smaller format, rounded once in the given direction. `mantissa_bits` without the
 * hidden one; NaN gives `nan`. Overflow goes to infinity or, for directions that say so, to the
 * largest number; `finite` always to the largest. */
struct float_format {
    int mantissa_bits, exponent_bits;
    uint32_t nan;
    bool finite;      /* saturate to the largest finite number */
    bool no_infinity; /* e4m3: the all-ones exponent holds numbers */
};
uint32_t round_to_format(double x, const struct float_format *format, enum rounding rounding);

uint16_t f64_to_f16(double x, enum rounding rounding);
uint16_t f64_to_bf16(double x, enum rounding rounding);

/* a + b and a * b + c as a double that rounds to the same value of a smaller format as the exact
 * result would (rounded to odd). Exact for operands of at most 24 mantissa bits. */
double add_odd(double a, double b);
double fma_odd(double a, double b, double c);

/* Directed rounding in single and double precision. */
float add_f32_rounded(float a, float b, enum rounding rounding);
float mul_f32_rounded(float a, float b, enum rounding rounding);
float fma_f32_rounded(float a, float b, float c, enum rounding rounding);
float div_f32_rounded(float a, float b, enum rounding rounding);
float sqrt_f32_rounded(float a, enum rounding rounding);
float f64_to_f32_rounded(double a, enum rounding rounding);
double add_f64_rounded(double a, double b, enum rounding rounding);
double mul_f64_rounded(double a, double b, enum rounding rounding);
double fma_f64_rounded(double a, double b, double c, enum rounding rounding);
double div_f64_rounded(double a, double b, enum rounding rounding);
double sqrt_f64_rounded(double a, enum rounding rounding);

/* Integer (as a 64-bit value, signed or not) to floating point in the given direction. */
float s64_to_f32(int64_t x, enum rounding rounding);
float u64_to_f32(uint64_t x, enum rounding rounding);
double s64_to_f64(int64_t x, enum rounding rounding);
double u64_to_f64(uint64_t x, enum rounding rounding);

/* To an integral value in the direction of rni, rzi, rmi, rpi (ROUND_RN, RZ, RM, RP). */
double round_integral(double x, enum rounding rounding);

/* tf32: 10 mantissa bits. rna: nearest, ties away from zero. */
uint32_t f32_to_tf32(uint32_t bits, bool ties_away);

/* Approximations. Errors against the exact result, for results in the normal range: at most 1 ulp
 * of single precision for ex2, lg2, rcp, rsqrt, sqrt and tanh; sin and cos 2^-22 absolute in [-pi,
 * pi]. Hardware differs from these within the bounds that the PTX ISA gives, which are looser. */
float approx_ex2(float x);
float approx_lg2(float x);
float approx_sin(float x);
float approx_cos(float x);
float approx_tanh(float x);
float approx_rsqrt(float x);

#endif
