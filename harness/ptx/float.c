/* Directed rounding switches the processor's rounding mode around one operation; the barriers keep
 * the compiler from moving the operation out of it. This file is compiled without contraction. */
#include "harness/ptx/float.h"

#include <fenv.h>
#include <math.h>

#define OPAQUE(x) __asm__ volatile("" : "+x"(x))

static int rounding_begin(enum rounding rounding)
{
    static const int modes[] = {FE_TONEAREST, FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    int old = fegetround();
    if (modes[rounding] != old)
        fesetround(modes[rounding]);
    return old;
}

#define ROUNDED1(name, R, A, EXPR)                                                                 \
    R name(A a, enum rounding rounding)                                                            \
    {                                                                                              \
        int old = rounding_begin(rounding);                                                        \
        OPAQUE(a);                                                                                 \
        R r = (EXPR);                                                                              \
        OPAQUE(r);                                                                                 \
        fesetround(old);                                                                           \
        return r;                                                                                  \
    }

#define ROUNDED2(name, T, EXPR)                                                                    \
    T name(T a, T b, enum rounding rounding)                                                       \
    {                                                                                              \
        int old = rounding_begin(rounding);                                                        \
        OPAQUE(a);                                                                                 \
        OPAQUE(b);                                                                                 \
        T r = (EXPR);                                                                              \
        OPAQUE(r);                                                                                 \
        fesetround(old);                                                                           \
        return r;                                                                                  \
    }

ROUNDED2(add_f32_rounded, float, a + b)
ROUNDED2(mul_f32_rounded, float, a *b)
ROUNDED2(div_f32_rounded, float, a / b)
ROUNDED2(add_f64_rounded, double, a + b)
ROUNDED2(mul_f64_rounded, double, a *b)
ROUNDED2(div_f64_rounded, double, a / b)
ROUNDED1(sqrt_f32_rounded, float, float, sqrtf(a))
ROUNDED1(sqrt_f64_rounded, double, double, sqrt(a))
ROUNDED1(f64_to_f32_rounded, float, double, (float)a)

float fma_f32_rounded(float a, float b, float c, enum rounding rounding)
{
    /* The product is exact in double precision, the sum is rounded to odd, and the conversion then
     * rounds as if the sum had been exact. */
    double product = (double)a * b, sum = add_odd(product, c);
    bool cancels = sum == 0 && signbit(product) != signbit((double)c);
    return cancels && rounding == ROUND_RM ? -0.0f : f64_to_f32_rounded(sum, rounding);
}

double fma_f64_rounded(double a, double b, double c, enum rounding rounding)
{
    int old = rounding_begin(rounding);
    OPAQUE(a);
    OPAQUE(b);
    OPAQUE(c);
    double r = fma(a, b, c);
    OPAQUE(r);
    fesetround(old);
    return r;
}

#define OPAQUE_INT(x) __asm__ volatile("" : "+r"(x))

#define FROM_INT(name, R, A)                                                                       \
    R name(A a, enum rounding rounding)                                                            \
    {                                                                                              \
        int old = rounding_begin(rounding);                                                        \
        OPAQUE_INT(a);                                                                             \
        R r = (R)a;                                                                                \
        OPAQUE(r);                                                                                 \
        fesetround(old);                                                                           \
        return r;                                                                                  \
    }

FROM_INT(s64_to_f32, float, int64_t)
FROM_INT(s64_to_f64, double, int64_t)

/* The compiler halves large unsigned numbers before converting, which only nearest survives; here
 * the number is split instead, both parts exact, and the sum is rounded once. */
double u64_to_f64(uint64_t x, enum rounding rounding)
{
    double high = (double)(x >> 32) * 0x1p32, low = (double)(x & 0xffffffffu);
    return add_f64_rounded(high, low, rounding);
}

float u64_to_f32(uint64_t x, enum rounding rounding)
{
    double high = (double)(x >> 32) * 0x1p32, low = (double)(x & 0xffffffffu);
    return f64_to_f32_rounded(add_odd(high, low), rounding);
}

double round_integral(double x, enum rounding rounding)
{
    switch (rounding) {
    case ROUND_RZ:
        return trunc(x);
    case ROUND_RM:
        return floor(x);
    case ROUND_RP:
        return ceil(x);
    default:
        return rint(x); /* the interpreter always runs in round-to-nearest */
    }
}

double add_odd(double a, double b)
{
    double sum = a + b;
    if (!isfinite(sum))
        return sum;
    double part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    uint64_t bits = f64_bits(sum);
    if (error != 0 && !(bits & 1)) {
        /* Towards the exact value by one step, which makes the last bit odd. */
        bool away = (error > 0) == (sum > 0);
        bits = away ? bits + 1 : bits - 1;
    }
    return bits_f64(bits);
}

double fma_odd(double a, double b, double c)
{
    return add_odd(a * b, c);
}

/* Whether a value with this lowest bit, rest below it and sign is rounded up in magnitude. */
static bool rounds_up(uint64_t kept, uint64_t rest, uint64_t half, bool negative,
                      enum rounding rounding)
{
    if (!rest)
        return false;
    switch (rounding) {
    case ROUND_RZ:
        return false;
    case ROUND_RM:
        return negative;
    case ROUND_RP:
        return !negative;
    default:
        return rest > half || (rest == half && (kept & 1));
    }
}

uint32_t round_to_format(double x, const struct float_format *format, enum rounding rounding)
{
    uint64_t bits = f64_bits(x);
    bool negative = bits >> 63;
    uint32_t sign = (uint32_t)negative << (format->mantissa_bits + format->exponent_bits);
    uint32_t top = (1u << format->exponent_bits) - 1;
    uint32_t infinity = top << format->mantissa_bits;
    uint32_t largest =
        format->no_infinity ? (infinity | ((1u << format->mantissa_bits) - 2)) : infinity - 1;
    if (x != x)
        return format->nan;
    bool to_largest = format->finite || (rounding == ROUND_RZ) ||
                      (rounding == ROUND_RM && !negative) || (rounding == ROUND_RP && negative);
    if (isinf(x))
        return sign | (format->finite ? largest : format->no_infinity ? format->nan : infinity);
    if (x == 0)
        return sign;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    uint64_t mantissa = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    if (exponent == -1023) /* a subnormal double is far below every smaller format */
        exponent = -1022, mantissa &= (1ull << 52) - 1;
    int bias = (1 << (format->exponent_bits - 1)) - 1;
    int biased = exponent + bias;
    int drop = 52 - format->mantissa_bits + (biased < 1 ? 1 - biased : 0);
    uint64_t kept = drop < 64 ? mantissa >> drop : 0;
    uint64_t rest = drop < 64 ? mantissa & ((1ull << drop) - 1) : mantissa;
    uint64_t half = drop < 64 ? 1ull << (drop - 1) : UINT64_MAX;
    if (rounds_up(kept, rest, half, negative, rounding))
        kept++;
    uint64_t result = kept;
    if (biased >= 1)
        result = ((uint64_t)(biased - 1) << format->mantissa_bits) + kept;
    if (result > largest)
        result = to_largest ? largest : format->no_infinity ? format->nan : infinity;
    return sign | (uint32_t)result;
}

uint16_t f64_to_f16(double x, enum rounding rounding)
{
    static const struct float_format f16 = {
        .mantissa_bits = 10, .exponent_bits = 5, .nan = NAN_F16};
    return (uint16_t)round_to_format(x, &f16, rounding);
}

uint16_t f64_to_bf16(double x, enum rounding rounding)
{
    static const struct float_format bf16 = {
        .mantissa_bits = 7, .exponent_bits = 8, .nan = NAN_BF16};
    return (uint16_t)round_to_format(x, &bf16, rounding);
}

uint32_t f32_to_tf32(uint32_t bits, bool ties_away)
{
    if ((bits & 0x7f800000u) == 0x7f800000u) /* rna is a program that drops bits of NaN too */
        return (bits & 0x7fffffu && !ties_away ? NAN_F32 : bits) & ~0x1fffu;
    uint32_t low = bits & 0x1fff, kept = bits & ~0x1fffu;
    bool up = ties_away ? low >= 0x1000 : low > 0x1000 || (low == 0x1000 && (bits & 0x2000));
    return up ? kept + 0x2000 : kept;
}

float approx_ex2(float x)
{
    return (float)exp2((double)x);
}

float approx_lg2(float x)
{
    return (float)log2((double)x);
}

float approx_sin(float x)
{
    return (float)sin((double)x);
}

float approx_cos(float x)
{
    return (float)cos((double)x);
}

float approx_tanh(float x)
{
    return (float)tanh((double)x);
}

float approx_rsqrt(float x)
{
    return (float)(1.0 / sqrt((double)x));
}
