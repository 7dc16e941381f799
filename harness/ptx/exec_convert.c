/* cvt. op->mode is the source type and op->mode2 the destination type (enum cvt_type); op->width is
 * the destination register's bytes, op->imm the rounding (enum rounding). Integers go through a
 * 64-bit value that is wide enough for all of them. */
#include "harness/ptx/handlers.h"

#include "harness/ptx/convert.h"
#include "harness/ptx/float.h"

#include <math.h>

/* The common widenings and narrowings, without detours. */
UNARY(cvt_s64_s32, s64, s32, x)
UNARY(cvt_u64_u32, u64, u32, x)
UNARY(cvt_32_64, u32, u64, x)
UNARY(cvt_u16_32, u32, u32, x & 0xffff)
UNARY(cvt_s32_s16, u32, u32, (s32)(int16_t)x)
UNARY(cvt_f32_s32, f32, s32, x)
UNARY(cvt_f64_f32, f64, f32, x)

static inline s32 truncate_f32(f32 x)
{
    return x != x ? 0 : x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : (s32)x;
}

UNARY(cvt_rzi_s32_f32, u32, f32, truncate_f32(x))

static void load_int(const struct warp *w, const struct op *op, u64 out[WARP_LANES])
{
    const u32 *a = SRC(u32, op->a);
    const u64 *b = SRC(u64, op->a);
    switch (op->mode) {
    case CVT_U8:
        LANES out[i] = (uint8_t)(op->vec == 8 ? (u32)b[i] : a[i]);
        break;
    case CVT_S8:
        LANES out[i] = (u64)(s64)(int8_t)(op->vec == 8 ? (u32)b[i] : a[i]);
        break;
    case CVT_U16:
        LANES out[i] = (uint16_t)(op->vec == 8 ? (u32)b[i] : a[i]);
        break;
    case CVT_S16:
        LANES out[i] = (u64)(s64)(int16_t)(op->vec == 8 ? (u32)b[i] : a[i]);
        break;
    case CVT_U32:
        LANES out[i] = op->vec == 8 ? (u32)b[i] : a[i];
        break;
    case CVT_S32:
        LANES out[i] = (u64)(s64)(s32)(op->vec == 8 ? (u32)b[i] : a[i]);
        break;
    default:
        LANES out[i] = b[i];
        break;
    }
}

static const struct cvt_range {
    s64 low;
    u64 high;
    unsigned bits;
} ranges[] = {
    [CVT_U8] = {0, UINT8_MAX, 8},    [CVT_S8] = {INT8_MIN, INT8_MAX, 8},
    [CVT_U16] = {0, UINT16_MAX, 16}, [CVT_S16] = {INT16_MIN, INT16_MAX, 16},
    [CVT_U32] = {0, UINT32_MAX, 32}, [CVT_S32] = {INT32_MIN, INT32_MAX, 32},
    [CVT_U64] = {0, UINT64_MAX, 64}, [CVT_S64] = {INT64_MIN, INT64_MAX, 64},
};

/* A value of the destination type, extended to the register's width by its own sign. */
static inline u64 extend(u64 x, unsigned type)
{
    unsigned unused = 64 - ranges[type].bits;
    x <<= unused;
    return type == CVT_S8 || type == CVT_S16 || type == CVT_S32 ? (u64)((s64)x >> unused)
                                                                : x >> unused;
}

static inline u64 clamp_int(u64 x, bool from_signed, unsigned type)
{
    const struct cvt_range *range = &ranges[type];
    if (from_signed && (s64)x < range->low)
        return (u64)range->low;
    if ((!from_signed || (s64)x >= 0) && x > range->high)
        return range->high;
    return x;
}

static inline bool is_signed_type(unsigned type)
{
    return type == CVT_S8 || type == CVT_S16 || type == CVT_S32 || type == CVT_S64;
}

HANDLER(cvt_int_int)
{
    ALIGNED u64 r[WARP_LANES];
    load_int(w, op, r);
    for (int i = 0; i < WARP_LANES; i++) {
        u64 x = op->flags & OP_SAT ? clamp_int(r[i], is_signed_type(op->mode), op->mode2) : r[i];
        r[i] = extend(x, op->mode2);
    }
    put_any(w, op->d[0], op->width, r);
    return op + 1;
}

/* ---- integer to float */

/* [0, 1], NaN to +0. */
static double saturate_f64(double x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}

static u64 float_from_int(const struct op *op, u64 x, bool is_signed)
{
    enum rounding rounding = (enum rounding)op->imm;
    switch (op->mode2) {
    case CVT_F64: {
        double r = is_signed ? s64_to_f64((s64)x, rounding) : u64_to_f64(x, rounding);
        return f64_bits(op->flags & OP_SAT ? saturate_f64(r) : r);
    }
    case CVT_F32: {
        float r = is_signed ? s64_to_f32((s64)x, rounding) : u64_to_f32(x, rounding);
        return f32_bits(op->flags & OP_SAT ? saturate_f32(r) : r);
    }
    default: {
        /* 64-bit integers do not fit a double; rounding to odd first keeps the second one honest.
         */
        u64 size = is_signed && (s64)x < 0 ? 0 - x : x;
        double exact = add_odd((double)(size >> 32) * 0x1p32, (double)(size & 0xffffffffu));
        if (is_signed && (s64)x < 0)
            exact = -exact;
        if (op->flags & OP_SAT)
            exact = saturate_f64(exact);
        return op->mode2 == CVT_BF16 ? f64_to_bf16(exact, rounding) : f64_to_f16(exact, rounding);
    }
    }
}

HANDLER(cvt_float_int)
{
    ALIGNED u64 r[WARP_LANES];
    load_int(w, op, r);
    for (int i = 0; i < WARP_LANES; i++)
        r[i] = float_from_int(op, r[i], is_signed_type(op->mode));
    put_any(w, op->d[0], op->width, r);
    return op + 1;
}

/* ---- float to anything */

static void load_float(const struct warp *w, const struct op *op, double out[WARP_LANES])
{
    const u32 *a = SRC(u32, op->a);
    switch (op->mode) {
    case CVT_F16:
        for (int i = 0; i < WARP_LANES; i++)
            out[i] = f16_to_f32((uint16_t)a[i]);
        break;
    case CVT_BF16:
        for (int i = 0; i < WARP_LANES; i++)
            out[i] = bf16_to_f32((uint16_t)a[i]);
        break;
    case CVT_F32:
        for (int i = 0; i < WARP_LANES; i++)
            /* on the way to a half, the hardware takes subnormals in spite of .ftz */
            out[i] = bits_f32(op->flags & OP_FTZ && op->mode2 != CVT_F16 ? flush_bits(a[i]) : a[i]);
        break;
    default:
        memcpy(out, SRC(f64, op->a), WARP_LANES * sizeof *out);
        break;
    }
}

/* Out of range clamps; NaN gives 0, or with 64 bits on either side the result's top bit alone. */
static u64 int_from_float(double x, unsigned type, enum rounding rounding, bool from_f64)
{
    const struct cvt_range *range = &ranges[type];
    if (x != x)
        return range->bits == 64 || from_f64 ? 1ull << (range->bits - 1) : 0;
    x = round_integral(x, rounding);
    if (is_signed_type(type)) {
        double limit = ldexp(1, (int)range->bits - 1);
        if (x >= limit)
            return range->high;
        if (x < -limit)
            return (u64)range->low;
        return (u64)(s64)x;
    }
    if (x <= 0)
        return 0;
    return x >= ldexp(1, (int)range->bits) ? range->high : (u64)x;
}

HANDLER(cvt_int_float)
{
    ALIGNED u64 r[WARP_LANES];
    double x[WARP_LANES];
    load_float(w, op, x);
    for (int i = 0; i < WARP_LANES; i++)
        r[i] = extend(int_from_float(x[i], op->mode2, (enum rounding)op->imm, op->mode == CVT_F64),
                      op->mode2);
    put_any(w, op->d[0], op->width, r);
    return op + 1;
}

static u64 float_from_float(const struct op *op, double x)
{
    enum rounding rounding = (enum rounding)op->imm;
    bool relu = op->flags & OP_RELU;
    if (relu && !(x > 0) && x == x)
        x = 0;
    if ((op->flags & OP_SAT) && op->mode2 != CVT_F32)
        x = saturate_f64(x);
    switch (op->mode2) {
    case CVT_F64:
        return f64_bits(x);
    case CVT_F32: {
        u32 bits = canonical_f32(rounding > ROUND_RN ? f64_to_f32_rounded(x, rounding) : (float)x);
        if (op->flags & OP_FTZ)
            bits = flush_bits(bits);
        return op->flags & OP_SAT ? f32_bits(saturate_f32(bits_f32(bits))) : bits;
    }
    case CVT_BF16:
        return f64_to_bf16(x, rounding);
    default:
        /* .ftz is about single precision only: a half that comes out subnormal stays */
        return f64_to_f16(x, rounding);
    }
}

/* A NaN: double precision hands sign and payload down, what is a copy or a shift for the hardware
 * keeps every bit, and the rest give the canonical one. */
static u64 nan_from_nan(const struct op *op, u64 bits, double x)
{
    u32 sign = (u32)(bits >> 32 & 0x80000000u);
    bool plain = !(op->flags & (OP_FTZ | OP_SAT));
    if (op->flags & OP_SAT)
        return float_from_float(op, x);
    if (op->mode == CVT_F64 && op->mode2 == CVT_F16)
        return sign >> 16 | 0x7e00 | (bits >> 42 & 0x3ff);
    if (op->mode == CVT_F64 && op->mode2 != CVT_F64)
        return (sign | 0x7fc00000u | (u32)(bits >> 29 & 0x7fffff)) >>
               (op->mode2 == CVT_BF16 ? 16 : 0);
    if (op->mode == CVT_F32 && op->mode2 == CVT_F64 && op->flags & OP_FTZ)
        return f64_bits(bits_f32(NAN_F32));
    if (op->mode == CVT_F32 && op->mode2 == CVT_F32 && plain)
        return bits;
    if (op->mode == CVT_BF16 && op->mode2 == CVT_F32 && plain)
        return (u64)(u32)(bits << 16);
    return float_from_float(op, x);
}

HANDLER(cvt_float_float)
{
    ALIGNED u64 r[WARP_LANES];
    double x[WARP_LANES];
    load_float(w, op, x);
    for (int i = 0; i < WARP_LANES; i++)
        r[i] = x[i] == x[i]
                   ? float_from_float(op, x[i])
                   : nan_from_nan(op, op->mode == CVT_F64 ? SRC(u64, op->a)[i] : SRC(u32, op->a)[i],
                                  x[i]);
    put_any(w, op->d[0], op->width, r);
    return op + 1;
}

/* cvt.rni.f32.f32 and the like: to an integral value, in the same format. */
HANDLER(cvt_integral)
{
    ALIGNED u64 r[WARP_LANES];
    double x[WARP_LANES];
    load_float(w, op, x);
    for (int i = 0; i < WARP_LANES; i++) {
        double y = round_integral(x[i], (enum rounding)op->imm);
        if ((op->flags & OP_SAT) && op->mode2 != CVT_F32)
            y = saturate_f64(y);
        if (op->mode2 == CVT_F64)
            r[i] = f64_bits(y);
        else if (op->mode2 == CVT_F32)
            r[i] = op->flags & OP_SAT ? f32_bits(saturate_f32((float)y)) : canonical_f32((float)y);
        else
            r[i] = op->mode2 == CVT_BF16 ? f64_to_bf16(y, ROUND_RN) : f64_to_f16(y, ROUND_RN);
    }
    put_any(w, op->d[0], op->width, r);
    return op + 1;
}

/* Two singles into one register: a into the upper half, b into the lower. mode2: CVT_F16 or BF16.
 */
HANDLER(cvt_pack2)
{
    const u32 *a = SRC(u32, op->a), *b = SRC(u32, op->b);
    ALIGNED u32 r[WARP_LANES];
    for (int i = 0; i < WARP_LANES; i++)
        r[i] = (u32)float_from_float(op, bits_f32(a[i])) << 16 |
               (u32)float_from_float(op, bits_f32(b[i]));
    put32(w, op->d[0], r);
    return op + 1;
}

/* mode: 0 rna, 1 rn, 2 rz */
HANDLER(cvt_tf32)
{
    const u32 *a = SRC(u32, op->a);
    ALIGNED u32 r[WARP_LANES];
    for (int i = 0; i < WARP_LANES; i++) {
        u32 x = a[i];
        if ((op->flags & OP_RELU) && (x & 0x80000000u) && (x & 0x7fffffffu) <= 0x7f800000u)
            x = 0;
        r[i] = op->mode == 2 && (x & 0x7f800000u) != 0x7f800000u ? x & ~0x1fffu
                                                                 : f32_to_tf32(x, op->mode == 0);
    }
    put32(w, op->d[0], r);
    return op + 1;
}

/* ---- 8-bit floats */

static const struct float_format e4m3 = {
    .mantissa_bits = 3, .exponent_bits = 4, .nan = 0x7f, .finite = true, .no_infinity = true};
static const struct float_format e5m2 = {
    .mantissa_bits = 2, .exponent_bits = 5, .nan = 0x7f, .finite = true};

static u32 to_fp8(const struct op *op, double x)
{
    if ((op->flags & OP_RELU) && !(x > 0) && x == x)
        x = 0;
    return round_to_format(x, op->mode2 ? &e5m2 : &e4m3, ROUND_RN);
}

/* mode2: 0 e4m3, 1 e5m2. Two singles into 16 bits. */
HANDLER(cvt_fp8_f32)
{
    const u32 *a = SRC(u32, op->a), *b = SRC(u32, op->b);
    ALIGNED u32 r[WARP_LANES];
    for (int i = 0; i < WARP_LANES; i++)
        r[i] = to_fp8(op, bits_f32(a[i])) << 8 | to_fp8(op, bits_f32(b[i]));
    put32(w, op->d[0], r);
    return op + 1;
}

HANDLER(cvt_fp8_f16x2)
{
    const u32 *a = SRC(u32, op->a);
    ALIGNED u32 r[WARP_LANES];
    for (int i = 0; i < WARP_LANES; i++)
        r[i] = to_fp8(op, f16_to_f32((uint16_t)(a[i] >> 16))) << 8 |
               to_fp8(op, f16_to_f32((uint16_t)a[i]));
    put32(w, op->d[0], r);
    return op + 1;
}

static u32 f16_from_fp8(u32 x, bool is_e5m2)
{
    if (is_e5m2) /* the upper byte of a half */
        return (x & 0x7c) == 0x7c && (x & 3) ? NAN_F16 : x << 8;
    if ((x & 0x7f) == 0x7f)
        return NAN_F16;
    u32 exponent = x >> 3 & 15, mantissa = x & 7;
    double size = exponent ? ldexp(8 + mantissa, (int)exponent - 10) : ldexp(mantissa, -9);
    return f64_to_f16(x & 0x80 ? -size : size, ROUND_RN);
}

HANDLER(cvt_f16x2_fp8)
{
    const u32 *a = SRC(u32, op->a);
    ALIGNED u32 r[WARP_LANES];
    for (int i = 0; i < WARP_LANES; i++) {
        u32 high = f16_from_fp8(a[i] >> 8 & 0xff, op->mode2);
        u32 low = f16_from_fp8(a[i] & 0xff, op->mode2);
        if ((op->flags & OP_RELU) && high & 0x8000)
            high = 0;
        if ((op->flags & OP_RELU) && low & 0x8000)
            low = 0;
        r[i] = high << 16 | low;
    }
    put32(w, op->d[0], r);
    return op + 1;
}

/* cvt.pack.sat: two integers into one register of halves, above c shifted up. mode2: type. */
HANDLER(cvt_pack_int)
{
    const s32 *a = SRC(s32, op->a), *b = SRC(s32, op->b);
    const u32 *c = SRC(u32, op->c);
    ALIGNED u32 r[WARP_LANES];
    unsigned bits = ranges[op->mode2].bits;
    u32 keep = (1u << bits) - 1;
    for (int i = 0; i < WARP_LANES; i++) {
        u32 high = (u32)clamp_int((u64)(s64)a[i], true, op->mode2) & keep;
        u32 low = (u32)clamp_int((u64)(s64)b[i], true, op->mode2) & keep;
        u32 rest = bits == 8 ? c[i] << 16 : 0;
        r[i] = rest | high << bits | low;
    }
    put32(w, op->d[0], r);
    return op + 1;
}
