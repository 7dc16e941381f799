/* What an instruction form has to give, in plain scalar C that shares nothing with the interpreter:
 * the compiler's own arithmetic, 128-bit integers and floats, and the FPU's rounding modes.
 *
 * A wanted value is exact, within a stated error, or whatever (the ISA leaves it open).
 *
 * oracle() is in oracle_eval.h; here are the numbers. */
#ifndef STRIDE_TESTS_PTX_ORACLE_H
#define STRIDE_TESTS_PTX_ORACLE_H

#include "harness/ptx/forms.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 i128;
typedef unsigned __int128 u128;

struct want {
    enum { WANT_EXACT, WANT_ANY, WANT_NAN, WANT_NEAR } kind; /* WANT_NAN: some double NaN */
    uint64_t bits;
    double value, slack; /* WANT_NEAR: as a number */
    char format;         /* of WANT_NAN and WANT_NEAR: 'h' f16, 'b' bf16, 'f' f32, 'd' f64 */
};

/* ---- formats ---- */

static inline float as_f32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, 4);
    return x;
}

static inline double as_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

static inline uint64_t of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static inline uint64_t of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

struct narrow {
    int mantissa, lowest; /* explicit bits; exponent of the smallest normal number */
    int total;            /* all bits */
    double most;
};

static const struct narrow narrow_f16 = {10, -14, 16, 65504},
                           narrow_bf16 = {7, -126, 16, 0x1.fep127}, narrow_e4m3 = {3, -6, 8, 448},
                           narrow_e5m2 = {2, -14, 8, 57344};

static inline double of_narrow(const struct narrow *f, uint32_t bits)
{
    int exponents = f->total - 1 - f->mantissa, bias = 1 - f->lowest;
    uint32_t mantissa = bits & ((1u << f->mantissa) - 1);
    int exponent = (int)(bits >> f->mantissa & ((1u << exponents) - 1));
    double sign = bits >> (f->total - 1) & 1 ? -1 : 1;
    bool last = exponent == (1 << exponents) - 1;
    if (f->mantissa == 3 ? last && mantissa == 7 : last && mantissa)
        return copysign(NAN, sign);
    if (last && f->mantissa != 3)
        return sign * INFINITY;
    if (!exponent)
        return sign * ldexp(mantissa, f->lowest - f->mantissa);
    return sign * ldexp(mantissa + (1u << f->mantissa), exponent - bias - f->mantissa);
}

/* An integral value in a FE_ direction. rint() would do, but compilers expand it for one mode. */
static inline double integral_of(double x, int mode)
{
    double down = floor(x), rest = x - down;
    if (mode == FE_DOWNWARD || !isfinite(x))
        return down;
    if (mode == FE_UPWARD)
        return ceil(x);
    if (mode == FE_TOWARDZERO)
        return trunc(x);
    bool up = rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0);
    return copysign(up ? down + 1 : down, x);
}

/* Rounds in a FE_ direction; NaN must have been dealt with. `finite`: the largest number instead of
 * infinity. */
static inline uint32_t to_narrow(const struct narrow *f, double x, int mode, bool finite)
{
    uint32_t sign = signbit(x) ? 1u << (f->total - 1) : 0;
    int exponent = x != 0 && isfinite(x) ? ilogb(x) : 0;
    exponent = x != 0 && exponent > f->lowest ? exponent : f->lowest;
    double quantum = ldexp(1, exponent - f->mantissa);
    double y = fabs(isfinite(x) ? integral_of(x / quantum, mode) * quantum : x);
    if (y > f->most) {
        bool down =
            mode == FE_TOWARDZERO || (mode == FE_DOWNWARD && !sign) || (mode == FE_UPWARD && sign);
        if (finite || (down && isfinite(x)))
            y = f->most;
        else
            return sign | ((1u << (f->total - 1 - f->mantissa)) - 1) << f->mantissa;
    }
    if (y == 0)
        return sign;
    exponent = ilogb(y);
    if (exponent < f->lowest)
        return sign | (uint32_t)ldexp(y, f->mantissa - f->lowest);
    uint32_t mantissa = (uint32_t)(ldexp(y, f->mantissa - exponent)) - (1u << f->mantissa);
    return sign | (uint32_t)(exponent - f->lowest + 1) << f->mantissa | mantissa;
}

/* A quad as a double that rounds on as the quad would. */
static inline double odd_double(__float128 x)
{
    double d = (double)x;
    if (d != d || (__float128)d == x || isinf(d))
        return d;
    if ((d < 0 ? -(__float128)d : (__float128)d) > (x < 0 ? -x : x))
        d = nextafter(d, 0);
    return as_f64(of_f64(d) | 1);
}

/* a * b + c of numbers with at most 24 bits, as such a double. */
static inline double odd_fma(double a, double b, double c)
{
    if (!isfinite(a) || !isfinite(b) || !isfinite(c))
        return a * b + c;
    __float128 product = (__float128)a * b;
    if (product == 0 || c == 0)
        return product == 0 && c == 0 ? a * b + c : odd_double(product + c);
    int gap = ilogb(a) + ilogb(b) - ilogb(c);
    if (gap > 60)
        return odd_double(product +
                          (c > 0 ? 1 : -1) * (product < 0 ? -product : product) * 0x1p-60Q);
    if (gap < -60)
        return odd_double(c + (product > 0 ? 1 : -1) * (__float128)fabs(c) * 0x1p-60Q);
    return odd_double(product + c);
}

/* ---- words ---- */

static inline bool says(const struct form_match *m, const char *word)
{
    return form_has(m, word);
}

static inline bool word_eq(const struct form_match *m, unsigned i, const char *word)
{
    return i < m->word_count && m->words[i].len == strlen(word) &&
           !memcmp(m->words[i].text, word, m->words[i].len);
}

/* Letter and bits of a type word: "u32" is 'u' 32, "bf16x2" 'b' 16 with pairs; bits 0: no type. */
struct kind {
    char letter; /* u s b(its) f h(alf) B(float16) p(red) */
    unsigned bits;
    bool pair;
};

static inline struct kind kind_of(const struct form_match *m, unsigned i)
{
    char text[16] = "";
    struct kind k = {0};
    if (i >= m->word_count || m->words[i].len >= sizeof text)
        return k;
    memcpy(text, m->words[i].text, m->words[i].len);
    k.pair = strstr(text, "x2") != NULL;
    if (!strncmp(text, "bf16", 4))
        return (struct kind){'B', 16, k.pair};
    if (!strncmp(text, "f16", 3))
        return (struct kind){'h', 16, k.pair};
    if (!strcmp(text, "pred"))
        return (struct kind){'p', 1, false};
    if (strchr("usbf", text[0]) && text[1] >= '0' && text[1] <= '9')
        k = (struct kind){text[0], (unsigned)strtoul(text + 1, NULL, 10), false};
    return k.bits % 8 ? (struct kind){0} : k;
}

static inline int mode_of(const struct form_match *m)
{
    if (says(m, "rz") || says(m, "rzi"))
        return FE_TOWARDZERO;
    if (says(m, "rm") || says(m, "rmi"))
        return FE_DOWNWARD;
    if (says(m, "rp") || says(m, "rpi"))
        return FE_UPWARD;
    return FE_TONEAREST;
}

/* ---- results ---- */

static inline struct want exactly(uint64_t bits)
{
    return (struct want){.kind = WANT_EXACT, .bits = bits};
}

static inline struct want want_f32(float x)
{
    return exactly(x == x ? of_f32(x) : 0x7fffffff);
}

static inline struct want want_f64(double x)
{
    return x == x ? exactly(of_f64(x)) : (struct want){.kind = WANT_NAN, .format = 'd'};
}

static inline struct want want_narrow(char letter, double x, int mode)
{
    if (x != x)
        return exactly(0x7fff);
    return exactly(to_narrow(letter == 'h' ? &narrow_f16 : &narrow_bf16, x, mode, false));
}

static inline struct want want_near(char format, double x, double slack)
{
    if (x != x && format == 'd')
        return (struct want){.kind = WANT_NAN, .format = format};
    if (x != x)
        return exactly(format == 'f' ? 0x7fffffff : 0x7fff);
    return (struct want){.kind = WANT_NEAR, .value = x, .slack = slack, .format = format};
}

static inline double number_of(char format, uint64_t bits)
{
    return format == 'd'   ? as_f64(bits)
           : format == 'f' ? as_f32(bits)
           : format == 'h' ? of_narrow(&narrow_f16, (uint32_t)bits & 0xffff)
                           : of_narrow(&narrow_bf16, (uint32_t)bits & 0xffff);
}

static inline bool want_met(const struct want *w, uint64_t got)
{
    double x;
    switch (w->kind) {
    case WANT_ANY:
        return true;
    case WANT_EXACT:
        return got == w->bits;
    case WANT_NAN:
        return isnan(number_of(w->format, got));
    default:
        x = number_of(w->format, got);
        return x == w->value || fabs(x - w->value) <= w->slack;
    }
}

#endif
