/* oracle(): which of the oracle's functions an opcode goes to; and conversions. */
#ifndef STRIDE_TESTS_PTX_ORACLE_EVAL_H
#define STRIDE_TESTS_PTX_ORACLE_EVAL_H

#include "tests/ptx/oracle_float.h"

/* ---- conversions ---- */

/* Sign- or zero-extends to the register that holds the result. */
static inline struct want extended(i128 x, struct kind k)
{
    unsigned bytes = k.bits < 16 ? 16 : k.bits;
    return exactly(low_bits((u128)number(low_bits((u128)x, k.bits), k), bytes));
}

static inline struct want int_from_float(const struct form_match *m, struct kind to,
                                         struct kind from, uint64_t bits)
{
    double x = number_in(from, bits, says(m, "ftz"));
    if (x != x) {
        bool wide = from.bits == 64 || to.bits == 64;
        i128 r = wide ? (i128)1 << (to.bits - 1) : 0;
        return extended(r, to);
    }
    double y = integral_of(x, mode_of(m));
    double low = (double)lowest_of(to), high = (double)highest_of(to);
    i128 r = y <= low ? lowest_of(to) : y >= high ? highest_of(to) : (i128)y;
    return extended(r, to);
}

static inline struct want float_from_int(const struct form_match *m, struct kind to,
                                         struct kind from, uint64_t bits)
{
    i128 x = number(bits, from);
    volatile int64_t s = (int64_t)x;
    volatile uint64_t u = (uint64_t)x;
    volatile float f;
    volatile double d;
    int mode = mode_of(m);
    bool is_signed = from.letter == 's';
    if (to.letter == 'h' || to.letter == 'B') {
        double y = odd_double((__float128)x);
        return want_narrow(to.letter, says(m, "sat") ? saturated(y) : y, mode);
    }
    fesetround(mode);
    f = is_signed ? (float)s : (float)u;
    d = is_signed ? (double)s : (double)u;
    fesetround(FE_TONEAREST);
    if (to.bits == 64)
        return want_f64(says(m, "sat") ? saturated(d) : d);
    return want_f32(says(m, "sat") ? (float)saturated(f) : f);
}

static inline bool form_integral(const struct form_match *m)
{
    return says(m, "rni") || says(m, "rzi") || says(m, "rmi") || says(m, "rpi");
}

/* What NaN becomes: double precision hands sign and payload down, a copy and a shift keep all
 * bits, the rest give the canonical one. */
static inline struct want nan_from_nan(const struct form_match *m, struct kind to, struct kind from,
                                       uint64_t bits)
{
    uint64_t sign = bits >> 63, payload = bits >> 29 & 0x7fffff;
    bool ftz = says(m, "ftz");
    if (says(m, "sat"))
        return exactly(0);
    if (from.bits == 64 && to.bits == 64)
        return want_f64(NAN);
    if (from.bits == 64 && to.letter == 'f')
        return exactly(sign << 31 | 0x7fc00000 | payload);
    if (from.bits == 64)
        return exactly(sign << 15 |
                       (to.letter == 'h' ? 0x7e00 | payload >> 13 : 0x7fc0 | payload >> 16));
    if (to.bits == 64)
        return ftz && from.letter == 'f' ? exactly(0x7fffffffe0000000) : want_f64(NAN);
    if (to.bits == 32 && !ftz && from.letter != 'h' && !form_integral(m))
        return exactly(from.letter == 'B' ? (bits & 0xffff) << 16 : bits);
    return exactly(to.bits == 32 ? 0x7fffffff : 0x7fff);
}

static inline struct want float_from_float(const struct form_match *m, struct kind to,
                                           struct kind from, uint64_t bits)
{
    bool integral = form_integral(m), ftz = says(m, "ftz");
    double x = number_in(from, bits, ftz && to.letter != 'h');
    int mode = mode_of(m);
    if (integral)
        x = integral_of(x, mode);
    if (x != x)
        return nan_from_nan(m, to, from, bits);
    if (says(m, "sat"))
        x = saturated(x);
    if (says(m, "relu"))
        x = x > 0 ? x : 0;
    if (to.letter != 'f')
        return want_narrow(to.letter, x, mode);
    if (to.bits == 64)
        return want_f64(x);
    volatile double y = x;
    fesetround(mode);
    volatile float f = (float)y;
    fesetround(FE_TONEAREST);
    return want_f32((float)flushed(f, ftz ? 0x1p-126 : 0));
}

/* cvt.rna/rn/rz.tf32.f32: 10 bits of mantissa. */
static inline struct want tf32_from(const struct form_match *m, uint64_t bits)
{
    uint32_t x = (uint32_t)bits, rest = x & 0x1fff, kept = x & ~0x1fffu;
    if (as_f32(x) != as_f32(x))
        return exactly(says(m, "rna") ? kept : 0x7fffe000);
    if (says(m, "relu") && x >> 31)
        return exactly(0);
    bool up = says(m, "rna")
                  ? rest >= 0x1000
                  : says(m, "rn") && (rest > 0x1000 || (rest == 0x1000 && kept & 0x2000));
    if (up && (x & 0x7f800000) != 0x7f800000)
        kept += 0x2000;
    return exactly(kept);
}

static inline uint32_t fp8_from(const struct form_match *m, double x)
{
    const struct narrow *f = says(m, "e4m3x2") ? &narrow_e4m3 : &narrow_e5m2;
    if (x != x)
        return 0x7f;
    if (says(m, "relu"))
        x = x > 0 ? x : 0;
    return to_narrow(f, x, FE_TONEAREST, true);
}

static inline bool convert_packed(const struct form_match *m, const uint64_t *in,
                                  struct want out[3], struct want *high)
{
    unsigned last = m->word_count - 1;
    bool from_fp8 = word_eq(m, last, "e4m3x2") || word_eq(m, last, "e5m2x2");
    if (says(m, "tf32")) {
        out[0] = tf32_from(m, in[0]);
    } else if (from_fp8) {
        const struct narrow *f = says(m, "e4m3x2") ? &narrow_e4m3 : &narrow_e5m2;
        for (unsigned i = 0; i < 2; i++) {
            double x = of_narrow(f, in[0] >> (8 * i) & 255);
            x = says(m, "relu") && x == x && !(x > 0) ? 0 : x;
            *(i ? high : out) = want_narrow('h', x, FE_TONEAREST);
        }
    } else if (says(m, "e4m3x2") || says(m, "e5m2x2")) {
        bool halves = word_eq(m, last, "f16x2");
        double low = halves ? of_narrow(&narrow_f16, in[0] & 0xffff) : as_f32(in[1]);
        double top = halves ? of_narrow(&narrow_f16, in[0] >> 16 & 0xffff) : as_f32(in[0]);
        out[0] = exactly(fp8_from(m, low) | fp8_from(m, top) << 8);
    } else { /* cvt.rn.f16x2.f32 d, a, b: a above b */
        char letter = says(m, "f16x2") ? 'h' : 'B';
        for (unsigned i = 0; i < 2; i++) {
            double x = as_f32(in[!i]);
            x = says(m, "relu") && x == x && !(x > 0) ? 0 : x;
            *(i ? high : out) = want_narrow(letter, x, mode_of(m));
        }
    }
    return true;
}

/* cvt.pack.sat: a and b saturated, a above b; the 8-bit form moves c up. */
static inline bool convert_pack(const struct form_match *m, const uint64_t *in, struct want out[3])
{
    struct kind to = kind_of(m, 3), from = {'s', 32, false};
    uint64_t a =
        low_bits((u128)clamp_to(number(in[0], from), lowest_of(to), highest_of(to)), to.bits);
    uint64_t b =
        low_bits((u128)clamp_to(number(in[1], from), lowest_of(to), highest_of(to)), to.bits);
    out[0] = exactly((uint32_t)(a << to.bits | b | (to.bits == 8 ? in[2] << 16 : 0)));
    return true;
}

static inline bool convert(const struct form_match *m, const uint64_t *in, struct want out[3],
                           struct want *high)
{
    struct kind to = kind_of(m, m->word_count - 2), from = kind_of(m, m->word_count - 1);
    bool float_to = to.letter && strchr("fhB", to.letter), float_from = strchr("fhB", from.letter);
    if (says(m, "pack"))
        return convert_pack(m, in, out);
    if (says(m, "tf32") || m->form->rule == RULE_CVT_PACK2 || m->form->rule == RULE_CVT_FP8)
        return convert_packed(m, in, out, high);
    if (!to.bits || !from.bits)
        return false;
    if (float_to && float_from)
        out[0] = float_from_float(m, to, from, in[0]);
    else if (float_to)
        out[0] = float_from_int(m, to, from, in[0]);
    else if (float_from)
        out[0] = int_from_float(m, to, from, in[0]);
    else
        out[0] =
            extended(says(m, "sat") ? clamp_to(number(in[0], from), lowest_of(to), highest_of(to))
                                    : number(in[0], from),
                     to);
    return true;
}

/* ---- everything ---- */

static inline bool selection(const struct form_match *m, const char *name, const uint64_t *in,
                             struct want out[3])
{
    bool first;
    struct kind k = kind_of(m, !strcmp(name, "slct") ? m->word_count - 2 : m->word_count - 1);
    if (!strcmp(name, "selp")) {
        first = in[2] != 0;
    } else if (word_eq(m, m->word_count - 1, "s32")) {
        first = (int32_t)in[2] >= 0;
    } else {
        first = flushed(as_f32(in[2]), says(m, "ftz") ? 0x1p-126 : 0) >= 0;
    }
    out[0] = exactly(low_bits(first ? in[0] : in[1], k.bits));
    return true;
}

/* What `in` (slots as the kernel loads them) must give. `high` is the upper half of packed halves;
 * its kind stays WANT_ANY otherwise. False when there is no oracle for the opcode. */
static inline bool oracle(const struct form_match *m, bool negated, const uint64_t in[5],
                          struct want out[3], struct want *high)
{
    char name[16] = "";
    struct kind k = kind_of(m, m->word_count - 1);
    if (m->words[0].len >= sizeof name)
        return false;
    memcpy(name, m->words[0].text, m->words[0].len);
    *high = (struct want){.kind = WANT_ANY};
    for (unsigned i = 0; i < 3; i++)
        out[i] = (struct want){.kind = WANT_ANY};
    if (!strcmp(name, "setp") || !strcmp(name, "set"))
        return compare(m, name, in, (in[2] != 0) != negated, out);
    if (!strcmp(name, "selp") || !strcmp(name, "slct"))
        return selection(m, name, in, out);
    if (!strcmp(name, "cvt"))
        return convert(m, in, out, high);
    if (!strcmp(name, "mov") || !strncmp(name, "cvta", 4)) {
        out[0] = exactly(k.letter == 'p' ? in[0] != 0 : low_bits(in[0], k.bits));
        return true;
    }
    if (!strcmp(name, "testp"))
        return classify(m, k, in[0], out);
    if (k.letter == 'h' || k.letter == 'B')
        return float_half(m, name, k, in, out, high);
    if (k.letter == 'f')
        return k.bits == 64 ? float_f64(m, name, in, out) : float_f32(m, name, in, out);
    if (says(m, "cc") || !strcmp(name, "addc") || !strcmp(name, "subc") || !strcmp(name, "madc"))
        return int_carry(m, k, in, out);
    if (!strncmp(name, "mul24", 5) || !strncmp(name, "mad24", 5))
        return int_multiply24(m, k, in, name[1] == 'a', out);
    if (!strcmp(name, "mul") || !strcmp(name, "mad"))
        return int_multiply(m, k, in, name[1] == 'a', out);
    return int_words(m, name, in, out) || int_bits(m, name, k, in, out) ||
           int_logic(name, k, in, out) || int_arithmetic(m, name, k, in, out);
}

#endif
