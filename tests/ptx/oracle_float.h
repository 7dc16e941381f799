/* The floating-point half of the oracle: single, double, half and bfloat16, comparisons. */
#ifndef STRIDE_TESTS_PTX_ORACLE_FLOAT_H
#define STRIDE_TESTS_PTX_ORACLE_FLOAT_H

#include "tests/ptx/oracle_int.h"

static inline double flushed(double x, double least)
{
    return fabs(x) < least ? copysign(0, x) : x;
}

static inline double saturated(double x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

/* ---- single and double, rounded by the FPU ---- */

static inline float fpu_f32(const char *name, float a, float b, float c, int mode)
{
    volatile float x = a, y = b, z = c, r = 0;
    fesetround(mode);
    if (!strcmp(name, "add"))
        r = x + y;
    else if (!strcmp(name, "sub"))
        r = x - y;
    else if (!strcmp(name, "mul"))
        r = x * y;
    else if (!strcmp(name, "div"))
        r = x / y;
    else if (!strcmp(name, "rcp"))
        r = 1.0f / x;
    else if (!strcmp(name, "sqrt"))
        r = sqrtf(x);
    else
        r = fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return r;
}

static inline double fpu_f64(const char *name, double a, double b, double c, int mode)
{
    volatile double x = a, y = b, z = c, r = 0;
    fesetround(mode);
    if (!strcmp(name, "add"))
        r = x + y;
    else if (!strcmp(name, "sub"))
        r = x - y;
    else if (!strcmp(name, "mul"))
        r = x * y;
    else if (!strcmp(name, "div"))
        r = x / y;
    else if (!strcmp(name, "rcp"))
        r = 1.0 / x;
    else if (!strcmp(name, "sqrt"))
        r = sqrt(x);
    else
        r = fma(x, y, z);
    fesetround(FE_TONEAREST);
    return r;
}

static inline bool is_rounded(const char *name)
{
    static const char *const names[] = {"add", "sub", "mul", "div", "rcp", "sqrt", "fma", "mad"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* Smaller or larger of two, NaN and -0 as the ISA says. */
static inline double minmax(const struct form_match *m, double a, double b)
{
    bool max = word_eq(m, 0, "max"), xorsign = says(m, "xorsign");
    bool sign = signbit(a) != signbit(b);
    double r;
    if (xorsign) {
        a = fabs(a);
        b = fabs(b);
    }
    if (a != a || b != b) {
        if (says(m, "NaN") || (a != a && b != b))
            return NAN;
        r = a != a ? b : a;
    } else if (a == b) {
        r = (signbit(a) != 0) != max ? a : b;
    } else {
        r = (a < b) != max ? a : b;
    }
    return xorsign ? copysign(r, sign ? -1 : 1) : r;
}

/* An ulp of single precision at x. */
static inline double ulp32(double x)
{
    int e = x != 0 && isfinite(x) ? ilogb(x) : -126;
    return ldexp(1, (e > -126 ? e : -126) - 23);
}

static inline struct want near_f32(double exact, double ulps, bool ftz)
{
    double slack = ulps * ulp32(exact);
    if (fabs(exact) > 0x1.fffffep127)
        exact = copysign(INFINITY, exact);
    if (ftz && fabs(exact) < 0x1p-126)
        return want_near('f', exact, 0x1p-126);
    return want_near('f', exact, slack);
}

static inline bool approx_f32(const char *name, const struct form_match *m, float a, float b,
                              struct want out[3])
{
    bool ftz = says(m, "ftz");
    double x = a;
    if (!strcmp(name, "rcp")) {
        out[0] = near_f32(1 / x, 1, ftz);
    } else if (!strcmp(name, "sqrt")) {
        out[0] = near_f32(sqrt(x), 1, ftz);
    } else if (!strcmp(name, "rsqrt")) {
        out[0] = near_f32(1 / sqrt(x), 2, ftz);
    } else if (!strcmp(name, "ex2")) {
        out[0] = near_f32(exp2(x), 2, ftz);
    } else if (!strcmp(name, "lg2")) {
        out[0] = near_f32(log2(x), 2, ftz);
        out[0].slack = fmax(out[0].slack, 0x1p-22);
    } else if (!strcmp(name, "sin") || !strcmp(name, "cos")) {
        out[0] = want_near('f', name[0] == 's' ? sin(x) : cos(x), 0x1p-20);
        if (fabs(x) > 3.2 && isfinite(x))
            out[0].kind = WANT_ANY;
    } else if (!strcmp(name, "tanh")) {
        out[0] = want_near('f', tanh(x), fabs(tanh(x)) * 0x1p-11);
    } else if (!strcmp(name, "div")) {
        out[0] = near_f32(x / b, 2, ftz);
        /* divisors above 2^126 give 0, and those below 2^-126 are flushed: the ISA's words */
        bool outside = isfinite(b) && (fabs(b) > 0x1p126 || fabs(b) < 0x1p-126);
        if (outside || (isfinite(a) && fabs(x / b) < 0x1p-126))
            out[0].kind = WANT_ANY;
    } else {
        return false;
    }
    return true;
}

static inline bool float_f32(const struct form_match *m, const char *name, const uint64_t *in,
                             struct want out[3])
{
    bool ftz = says(m, "ftz");
    double least = ftz ? 0x1p-126 : 0;
    float a = (float)flushed(as_f32(in[0]), least), b = (float)flushed(as_f32(in[1]), least);
    float c = (float)flushed(as_f32(in[2]), least), r;
    if (says(m, "approx") || says(m, "full"))
        return approx_f32(name, m, a, b, out);
    if (is_rounded(name))
        r = (float)flushed(fpu_f32(name, a, b, c, mode_of(m)), least);
    else if (!strcmp(name, "neg"))
        r = -a;
    else if (!strcmp(name, "abs"))
        r = fabsf(a);
    else if (!strcmp(name, "copysign")) {
        out[0] = exactly((in[1] & 0x7fffffff) | (in[0] & 0x80000000));
        return true;
    } else if (!strcmp(name, "min") || !strcmp(name, "max"))
        r = (float)minmax(m, a, b);
    else
        return false;
    out[0] = want_f32(says(m, "sat") ? (float)saturated(r) : r);
    return true;
}

static inline bool float_f64(const struct form_match *m, const char *name, const uint64_t *in,
                             struct want out[3])
{
    double a = as_f64(in[0]), b = as_f64(in[1]), r;
    if (says(m, "approx")) {
        /* the low half of the source does not count; subnormals are flushed */
        a = flushed(as_f64(in[0] >> 32 << 32), 0x1p-1022);
        r = !strcmp(name, "rcp") ? 1 / a : 1 / sqrt(a);
        out[0] = want_near('d', flushed(r, 0x1p-1022), fabs(r) * 0x1p-18);
        return true;
    }
    if (a != a && (!strcmp(name, "neg") || !strcmp(name, "abs"))) {
        out[0] = exactly(in[0] | 1ull << 51);
        return true;
    }
    if (is_rounded(name))
        r = fpu_f64(name, a, b, as_f64(in[2]), mode_of(m));
    else if (!strcmp(name, "neg"))
        r = -a;
    else if (!strcmp(name, "abs"))
        r = fabs(a);
    else if (!strcmp(name, "copysign"))
        r = copysign(b, a);
    else if (!strcmp(name, "min") || !strcmp(name, "max"))
        r = minmax(m, a, b);
    else
        return false;
    out[0] = want_f64(r);
    return true;
}

/* ---- halves ---- */

static inline struct want half_one(const struct form_match *m, const char *name, char letter,
                                   uint64_t xa, uint64_t xb, uint64_t xc)
{
    const struct narrow *f = letter == 'h' ? &narrow_f16 : &narrow_bf16;
    double least = says(m, "ftz") ? ldexp(1, f->lowest) : 0, r;
    double a = flushed(of_narrow(f, xa & 0xffff), least);
    double b = flushed(of_narrow(f, xb & 0xffff), least);
    double c = flushed(of_narrow(f, xc & 0xffff), least);
    char format = letter == 'h' ? 'h' : 'b';
    if (!strcmp(name, "ex2") || !strcmp(name, "tanh")) {
        double relative = letter == 'h' ? 0x1p-9 : 0x1p-7;
        r = flushed(name[0] == 'e' ? exp2(a) : tanh(a), least);
        if (fabs(r) > f->most)
            r = INFINITY;
        return want_near(format, r, fabs(r) * relative + ldexp(1, f->lowest - f->mantissa));
    }
    if (!strcmp(name, "add") || !strcmp(name, "sub"))
        r = odd_fma(a, 1, name[0] == 'a' ? b : -b);
    else if (!strcmp(name, "mul"))
        r = a * b;
    else if (!strcmp(name, "fma"))
        r = odd_fma(a, b, c);
    else if (!strcmp(name, "neg"))
        r = -a;
    else if (!strcmp(name, "abs"))
        r = fabs(a);
    else
        r = minmax(m, a, b);
    if (says(m, "sat"))
        r = saturated(r);
    if (says(m, "relu") && r == r)
        r = r > 0 ? r : 0;
    struct want w = want_narrow(letter, r, FE_TONEAREST);
    if (w.kind == WANT_EXACT && least > 0)
        w = want_narrow(letter, flushed(of_narrow(f, (uint32_t)w.bits), least), FE_TONEAREST);
    return w;
}

/* Two halves as one wanted word: each half has its own slack, so they are checked apart. */
static inline bool float_half(const struct form_match *m, const char *name, struct kind k,
                              const uint64_t *in, struct want out[3], struct want *high)
{
    out[0] = half_one(m, name, k.letter, in[0], in[1], in[2]);
    if (k.pair)
        *high = half_one(m, name, k.letter, in[0] >> 16, in[1] >> 16, in[2] >> 16);
    return true;
}

/* ---- comparisons ---- */

static inline bool float_relation(const struct form_match *m, double a, double b)
{
    bool unordered = a != a || b != b;
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    if (says(m, "num"))
        return !unordered;
    if (says(m, "nan"))
        return unordered;
    for (unsigned i = 0; i < 6; i++) {
        char loose[8];
        snprintf(loose, sizeof loose, "%su", names[i]);
        bool hit = i == 0   ? a == b
                   : i == 1 ? a != b && !unordered
                   : i == 2 ? a < b
                   : i == 3 ? a <= b
                   : i == 4 ? a > b
                            : a >= b;
        if (says(m, names[i]))
            return hit && !unordered;
        if (says(m, loose))
            return hit || unordered;
    }
    return false;
}

static inline double number_in(struct kind k, uint64_t bits, bool ftz)
{
    if (k.letter == 'h' || k.letter == 'B')
        return of_narrow(k.letter == 'h' ? &narrow_f16 : &narrow_bf16, bits & 0xffff);
    if (k.bits == 64)
        return as_f64(bits);
    return flushed(as_f32(bits), ftz ? 0x1p-126 : 0);
}

static inline bool relation(const struct form_match *m, struct kind k, uint64_t a, uint64_t b)
{
    bool is_float = strchr("fhB", k.letter);
    bool ftz = says(m, "ftz");
    if (is_float)
        return float_relation(m, number_in(k, a, ftz), number_in(k, b, ftz));
    return int_relation(m, number(a, k), number(b, k));
}

static inline bool combined(const struct form_match *m, bool x, bool c)
{
    if (says(m, "and"))
        return x && c;
    if (says(m, "or"))
        return x || c;
    if (says(m, "xor"))
        return x != c;
    return x;
}

/* c: the combining predicate as the instruction takes it. */
static inline bool compare(const struct form_match *m, const char *name, const uint64_t *in, bool c,
                           struct want out[3])
{
    struct kind k = kind_of(m, m->word_count - 1), to = kind_of(m, m->word_count - 2);
    bool low = relation(m, k, in[0], in[1]);
    bool high = k.pair && relation(m, k, in[0] >> 16, in[1] >> 16);
    if (!strcmp(name, "setp")) {
        out[0] = exactly(combined(m, low, c));
        out[1] = exactly(combined(m, k.pair ? high : !low, c));
        return true;
    }
    uint64_t yes = to.letter == 'f'   ? 0x3f800000
                   : to.letter == 'h' ? 0x3c00
                   : to.letter == 'B' ? 0x3f80
                   : k.pair           ? 0xffff
                                      : low_bits(~(u128)0, to.bits);
    out[0] =
        exactly((combined(m, low, c) ? yes : 0) | (k.pair && combined(m, high, c) ? yes << 16 : 0));
    return true;
}

static inline bool classify(const struct form_match *m, struct kind k, uint64_t bits,
                            struct want out[3])
{
    double x = number_in(k, bits, false);
    int class = k.bits == 64 ? fpclassify(x) : fpclassify((float)x);
    bool r = says(m, "finite")       ? isfinite(x)
             : says(m, "infinite")   ? isinf(x)
             : says(m, "number")     ? x == x
             : says(m, "notanumber") ? x != x
             : says(m, "normal")     ? class == FP_NORMAL || class == FP_ZERO
                                     : class == FP_SUBNORMAL;
    out[0] = exactly(r);
    return true;
}

#endif
