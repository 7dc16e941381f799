/* Integer and bit operations. 16-bit values live zero-extended in 32-bit slots. */
#include "harness/ptx/handlers.h"

VECTOR1(mov_32, 32, vu32, x)
VECTOR1(mov_64, 64, vu64, x)
VECTOR2(add_32, 32, vu32, x + y)
VECTOR2(sub_32, 32, vu32, x - y)
VECTOR2(mul_lo_32, 32, vu32, x *y)
VECTOR3(mad_lo_32, 32, vu32, x *y + z)
VECTOR2(and_32, 32, vu32, x &y)
VECTOR2(or_32, 32, vu32, x | y)
VECTOR2(xor_32, 32, vu32, x ^ y)
VECTOR1(not_32, 32, vu32, ~x)
VECTOR1(neg_32, 32, vu32, 0 - x)
VECTOR2(add_64, 64, vu64, x + y)
VECTOR2(sub_64, 64, vu64, x - y)
VECTOR2(and_64, 64, vu64, x &y)
VECTOR2(or_64, 64, vu64, x | y)
VECTOR2(xor_64, 64, vu64, x ^ y)
VECTOR1(not_64, 64, vu64, ~x)
VECTOR1(neg_64, 64, vu64, 0 - x)
VECTOR2(min_s32, 32, vs32, v32_pick((vu32)(x < y), (vu32)x, (vu32)y))
VECTOR2(max_s32, 32, vs32, v32_pick((vu32)(x > y), (vu32)x, (vu32)y))
VECTOR2(min_u32, 32, vu32, v32_pick((vu32)(x < y), x, y))
VECTOR2(max_u32, 32, vu32, v32_pick((vu32)(x > y), x, y))
VECTOR2(min_s64, 64, vs64, v64_pick((vu64)(x < y), (vu64)x, (vu64)y))
VECTOR2(max_s64, 64, vs64, v64_pick((vu64)(x > y), (vu64)x, (vu64)y))
VECTOR2(min_u64, 64, vu64, v64_pick((vu64)(x < y), x, y))
VECTOR2(max_u64, 64, vu64, v64_pick((vu64)(x > y), x, y))

/* Shift counts above the width behave like the width. */
VECTOR2(shl_32, 32, vu32, (x << (y & 31)) & (vu32)(y < 32))
VECTOR2(shr_u32, 32, vu32, (x >> (y & 31)) & (vu32)(y < 32))
VECTOR2(shr_s32, 32, vs32, x >> (vs32)v32_pick((vu32)((vu32)y < 32), (vu32)y, v32_set(31)))
BINARY2(shl_64, u64, u64, u32, y < 64 ? x << (y & 63) : 0)
BINARY2(shr_u64, u64, u64, u32, y < 64 ? x >> (y & 63) : 0)
BINARY2(shr_s64, s64, s64, u32, x >> (y < 64 ? y : 63))
BINARY(shl_16, u32, u32, y < 16 ? (x << (y & 15)) & 0xffff : 0)
BINARY(shr_u16, u32, u32, y < 16 ? x >> (y & 15) : 0)
BINARY(shr_s16, u32, u32, (uint16_t)((int16_t)x >> (y < 16 ? y : 15)))

BINARY(add_16, u32, u32, (x + y) & 0xffff)
BINARY(sub_16, u32, u32, (x - y) & 0xffff)
BINARY(mul_lo_16, u32, u32, (x * y) & 0xffff)
TERNARY(mad_lo_16, u32, u32, (x * y + z) & 0xffff)
UNARY(not_16, u32, u32, ~x & 0xffff)
UNARY(neg_16, u32, u32, (0 - x) & 0xffff)
UNARY(abs_s16, u32, u32, (uint16_t)((int16_t)x < 0 ? 0 - x : x))
BINARY(min_s16, u32, u32, (int16_t)x < (int16_t)y ? x : y)
BINARY(max_s16, u32, u32, (int16_t)x > (int16_t)y ? x : y)
BINARY(mul_hi_s16, u32, u32, (uint16_t)(((s32)(int16_t)x * (int16_t)y) >> 16))
BINARY(mul_hi_u16, u32, u32, (x * y) >> 16)
BINARY(mul_wide_s16, u32, u32, (s32)(int16_t)x *(s32)(int16_t)y)
BINARY(mul_wide_u16, u32, u32, x *y)
TERNARY(mad_wide_s16, u32, u32, (u32)((s32)(int16_t)x *(s32)(int16_t)y) + z)
TERNARY(mad_wide_u16, u32, u32, x *y + z)

static inline s64 wide_s(s32 x, s32 y)
{
    return (s64)x * y;
}

static inline u64 wide_u(u32 x, u32 y)
{
    return (u64)x * y;
}

static inline u64 high_u64(u64 x, u64 y)
{
    return (u64)(((unsigned __int128)x * y) >> 64);
}

static inline u64 high_s64(s64 x, s64 y)
{
    return (u64)(((__int128)x * y) >> 64);
}

static inline u32 saturate_s32(s64 x)
{
    return (u32)(s32)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

BINARY(mul_hi_s32, u32, s32, wide_s(x, y) >> 32)
BINARY(mul_hi_u32, u32, u32, wide_u(x, y) >> 32)
BINARY(mul_wide_s32, s64, s32, wide_s(x, y))
BINARY(mul_wide_u32, u64, u32, wide_u(x, y))
BINARY(mul_lo_64, u64, u64, x *y)
BINARY(mul_hi_u64, u64, u64, high_u64(x, y))
BINARY(mul_hi_s64, u64, s64, high_s64(x, y))
TERNARY(mad_hi_s32, u32, u32, (u32)(wide_s((s32)x, (s32)y) >> 32) + z)
TERNARY(mad_hi_u32, u32, u32, (u32)(wide_u(x, y) >> 32) + z)
TERNARY(mad_hi_sat_s32, u32, s32, saturate_s32((wide_s(x, y) >> 32) + z))
TERNARY3(mad_wide_s32, u64, s32, s32, u64, (u64)wide_s(x, y) + z)
TERNARY3(mad_wide_u32, u64, u32, u32, u64, wide_u(x, y) + z)
TERNARY(mad_lo_64, u64, u64, x *y + z)
TERNARY(mad_hi_u64, u64, u64, high_u64(x, y) + z)
TERNARY(mad_hi_s64, u64, u64, high_s64((s64)x, (s64)y) + z)
BINARY(add_sat_s32, u32, s32, saturate_s32((s64)x + y))
BINARY(sub_sat_s32, u32, s32, saturate_s32((s64)x - y))

static inline u32 mul24(u32 x, u32 y, bool is_signed, bool high)
{
    if (is_signed) {
        s64 product = (s64)((s32)(x << 8) >> 8) * ((s32)(y << 8) >> 8);
        return (u32)(high ? product >> 16 : product);
    }
    u64 product = (u64)(x & 0xffffff) * (y & 0xffffff);
    return (u32)(high ? product >> 16 : product);
}

/* mode: bit 0 signed, bit 1 high half */
BINARY(mul24, u32, u32, mul24(x, y, op->mode & 1, op->mode & 2))
TERNARY(mad24, u32, u32, mul24(x, y, op->mode & 1, op->mode & 2) + z)

/* Division by zero gives all ones and the dividend, as the hardware does; the most negative number
 * divided by -1 wraps. */
static inline s64 div_s(s64 x, s64 y, s64 lowest)
{
    return !y ? -1 : y == -1 ? (x == lowest ? x : -x) : x / y;
}

static inline s64 rem_s(s64 x, s64 y)
{
    return !y ? x : y == -1 ? 0 : x % y;
}

BINARY(div_u16, u32, u32, y ? x / y : 0xffff)
BINARY(rem_u16, u32, u32, y ? x % y : x)
BINARY(div_s16, u32, u32, (uint16_t)div_s((int16_t)x, (int16_t)y, INT16_MIN))
BINARY(rem_s16, u32, u32, (uint16_t)rem_s((int16_t)x, (int16_t)y))
BINARY(div_u32, u32, u32, y ? x / y : UINT32_MAX)
BINARY(rem_u32, u32, u32, y ? x % y : x)
BINARY(div_s32, u32, s32, div_s(x, y, INT32_MIN))
BINARY(rem_s32, u32, s32, rem_s(x, y))
BINARY(div_u64, u64, u64, y ? x / y : UINT64_MAX)
BINARY(rem_u64, u64, u64, y ? x % y : x)
BINARY(div_s64, u64, s64, div_s(x, y, INT64_MIN))
BINARY(rem_s64, u64, s64, rem_s(x, y))

UNARY(abs_s32, u32, u32, (s32)x < 0 ? 0 - x : x)
UNARY(abs_s64, u64, u64, (s64)x < 0 ? 0 - x : x)
TERNARY(sad_s32, u32, u32, ((s32)x < (s32)y ? y - x : x - y) + z)
TERNARY(sad_u32, u32, u32, (x < y ? y - x : x - y) + z)
TERNARY(sad_s16, u32, u32, (uint16_t)(((int16_t)x < (int16_t)y ? y - x : x - y) + z))
TERNARY(sad_u16, u32, u32, (uint16_t)((x < y ? y - x : x - y) + z))
TERNARY(sad_s64, u64, u64, ((s64)x < (s64)y ? y - x : x - y) + z)
TERNARY(sad_u64, u64, u64, (x < y ? y - x : x - y) + z)

UNARY(cnot_16, u32, u32, x == 0)
UNARY(cnot_32, u32, u32, x == 0)
UNARY(cnot_64, u64, u64, x == 0)
UNARY(popc_32, u32, u32, __builtin_popcount(x))
UNARY(popc_64, u32, u64, __builtin_popcountll(x))
UNARY(clz_32, u32, u32, x ? __builtin_clz(x) : 32)
UNARY(clz_64, u32, u64, x ? __builtin_clzll(x) : 64)

static inline u32 reverse32(u32 x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

UNARY(brev_32, u32, u32, reverse32(x))
UNARY(brev_64, u64, u64, (u64)reverse32((u32)x) << 32 | reverse32((u32)(x >> 32)))

/* Position of the most significant bit that matters, or all ones; mode 1: as a shift amount. */
static inline u32 find32(u32 x, bool shift)
{
    return !x ? UINT32_MAX : shift ? (u32)__builtin_clz(x) : 31 - (u32)__builtin_clz(x);
}

static inline u32 find64(u64 x, bool shift)
{
    return !x ? UINT32_MAX : shift ? (u32)__builtin_clzll(x) : 63 - (u32)__builtin_clzll(x);
}

UNARY(bfind_u32, u32, u32, find32(x, op->mode))
UNARY(bfind_s32, u32, u32, find32((s32)x < 0 ? ~x : x, op->mode))
UNARY(bfind_u64, u32, u64, find64(x, op->mode))
UNARY(bfind_s64, u32, u64, find64((s64)x < 0 ? ~x : x, op->mode))

/* Bit field: position and length are the low bytes; bits beyond the register read as zero or as the
 * sign of the field's last existing bit. */
static inline u64 field(u64 x, u32 position, u32 length, unsigned bits, bool is_signed)
{
    u32 pos = position & 0xff, len = length & 0xff;
    if (!len)
        return 0;
    u32 top = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
    u64 sign = is_signed && (x >> top & 1) ? ~0ull : 0;
    u64 value = pos < bits ? x >> pos : 0;
    if (pos >= bits)
        return sign;
    u32 have = bits - pos < len ? bits - pos : len;
    u64 keep = have >= 64 ? ~0ull : (1ull << have) - 1;
    return (value & keep) | (sign & ~keep);
}

TERNARY(bfe_u32, u32, u32, field(x, y, z, 32, false))
TERNARY(bfe_s32, u32, u32, field(x, y, z, 32, true))
TERNARY3(bfe_u64, u64, u64, u32, u32, field(x, y, z, 64, false))
TERNARY3(bfe_s64, u64, u64, u32, u32, field(x, y, z, 64, true))

static inline u64 insert(u64 from, u64 into, u32 position, u32 length, unsigned bits)
{
    u32 pos = position & 0xff, len = length & 0xff;
    if (!len || pos >= bits)
        return into;
    u64 keep = len >= 64 ? ~0ull : (1ull << len) - 1;
    return (into & ~(keep << pos)) | (from & keep) << pos;
}

HANDLER(bfi_32)
{
    const u32 *a = SRC(u32, op->a), *b = SRC(u32, op->b), *c = SRC(u32, op->c),
              *e = SRC(u32, op->e);
    ALIGNED u32 r[WARP_LANES];
    LANES r[i] = (u32)insert(a[i], b[i], c[i], e[i], 32);
    put32(w, op->d[0], r);
    return op + 1;
}

HANDLER(bfi_64)
{
    const u64 *a = SRC(u64, op->a), *b = SRC(u64, op->b);
    const u32 *c = SRC(u32, op->c), *e = SRC(u32, op->e);
    ALIGNED u64 r[WARP_LANES];
    LANES r[i] = insert(a[i], b[i], c[i], e[i], 64);
    put64(w, op->d[0], r);
    return op + 1;
}

/* mode: 0 clamp, 1 wrap */
BINARY(bmsk, u32, u32,
       op->mode ? (u32)(((1ull << (y & 31)) - 1) << (x & 31))
       : x > 31 ? 0
                : (u32)((y > 31 ? ~0ull : (1ull << y) - 1) << x))

static inline u32 szext(u32 x, u32 width, bool is_signed, bool wrap)
{
    if (wrap)
        width &= 31;
    if (width > 31)
        return x;
    if (!width)
        return 0;
    u32 keep = (1u << width) - 1;
    return (x & keep) | (is_signed && (x >> (width - 1) & 1) ? ~keep : 0);
}

/* mode: 0 clamp, 1 wrap; mode2: 1 signed */
BINARY(szext, u32, u32, szext(x, y, op->mode2, op->mode))

/* Position of the n-th set bit counted from a base; negative n counts downwards. */
static inline u32 find_nth(u32 mask, u32 base, s32 n)
{
    if (base > 31)
        return UINT32_MAX;
    if (!n)
        return mask >> base & 1 ? base : UINT32_MAX;
    s32 step = n < 0 ? -1 : 1;
    u32 left = n < 0 ? 0 - (u32)n : (u32)n;
    for (s32 at = (s32)base; at >= 0 && at < 32; at += step) {
        if ((mask >> at & 1) && !--left)
            return (u32)at;
    }
    return UINT32_MAX;
}

TERNARY(fns, u32, u32, find_nth(x, y, (s32)z))

static inline u32 prmt_selector(u32 c, unsigned mode, unsigned byte)
{
    u32 k = c & 3;
    switch (mode) {
    case 1: /* f4e */
        return k + byte;
    case 2: /* b4e */
        return (k - byte) & 7;
    case 3: /* rc8 */
        return k;
    case 4: /* ecl */
        return byte < k ? k : byte;
    case 5: /* ecr */
        return byte > k ? k : byte;
    case 6: /* rc16 */
        return ((c & 1) << 1) | (byte & 1);
    default:
        return c >> (4 * byte) & 0xf;
    }
}

static inline u32 permute(u32 x, u32 y, u32 c, unsigned mode)
{
    u64 bytes = (u64)y << 32 | x;
    u32 result = 0;
    for (unsigned byte = 0; byte < 4; byte++) {
        u32 selector = prmt_selector(c, mode, byte);
        u32 value = (u32)(bytes >> (8 * (selector & 7))) & 0xff;
        if (selector & 8)
            value = value & 0x80 ? 0xff : 0;
        result |= value << (8 * byte);
    }
    return result;
}

TERNARY(prmt, u32, u32, permute(x, y, z, op->mode))

/* Funnel shifts; mode: 0 clamp, 1 wrap */
TERNARY(shf_l, u32, u32, ((u64)y << 32 | x) << (op->mode ? z & 31 : z > 32 ? 32 : z) >> 32)
TERNARY(shf_r, u32, u32, ((u64)y << 32 | x) >> (op->mode ? z & 31 : z > 32 ? 32 : z))

static inline u32 lop3(u32 a, u32 b, u32 c, u32 table)
{
    u32 r = 0;
    r |= table & 1 ? ~a & ~b & ~c : 0;
    r |= table & 2 ? ~a & ~b & c : 0;
    r |= table & 4 ? ~a & b & ~c : 0;
    r |= table & 8 ? ~a & b & c : 0;
    r |= table & 16 ? a & ~b & ~c : 0;
    r |= table & 32 ? a & ~b & c : 0;
    r |= table & 64 ? a & b & ~c : 0;
    r |= table & 128 ? a & b & c : 0;
    return r;
}

TERNARY(lop3, u32, u32, lop3(x, y, z, (u32)op->imm))

static inline u32 dot(u32 x, u32 y, u32 z, unsigned lanes, unsigned mode)
{
    u32 sum = z;
    for (unsigned k = 0; k < lanes; k++) {
        s32 p, q = mode & 2 ? (int8_t)(y >> (8 * k)) : (s32)(y >> (8 * k) & 0xff);
        if (lanes == 4)
            p = mode & 1 ? (int8_t)(x >> (8 * k)) : (s32)(x >> (8 * k) & 0xff);
        else
            p = mode & 1 ? (int16_t)(x >> (16 * k)) : (s32)(x >> (16 * k) & 0xffff);
        sum += (u32)(p * q);
    }
    return sum;
}

/* mode: bit 0 first signed, bit 1 second signed; dp2a mode2: 1 high half of the second */
TERNARY(dp4a, u32, u32, dot(x, y, z, 4, (unsigned)(op->mode | op->mode2 << 1)))
TERNARY(dp2a_lo, u32, u32, dot(x, y, z, 2, (unsigned)(op->mode | op->mode2 << 1)))
TERNARY(dp2a_hi, u32, u32, dot(x, y >> 16, z, 2, (unsigned)(op->mode | op->mode2 << 1)))

/* Carry chains. The carry flag is a predicate at a fixed place in the window. mode: bit 0 the
 * operation sets the flag, bit 1 it uses the flag. */
#define CARRY_OFFSET 4

#define CARRY_ADD(name, T, X, EXPR)                                                                \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const T *a = SRC(T, op->a), *b = SRC(T, op->b), *c = SRC(T, op->c);                        \
        ALIGNED T r[WARP_LANES];                                                                   \
        u32 carry = op->mode & 2 ? *pred(w, CARRY_OFFSET) : 0, out = 0;                            \
        for (int i = 0; i < WARP_LANES; i++) {                                                     \
            T x = a[i], y = b[i], z = c[i];                                                        \
            (void)z;                                                                               \
            X sum = (EXPR);                                                                        \
            r[i] = (T)sum;                                                                         \
            out |= (u32)(sum >> (8 * sizeof(T)) & 1) << i;                                         \
        }                                                                                          \
        if (op->mode & 1)                                                                          \
            pred_store(w, CARRY_OFFSET, out);                                                      \
        PUT_##T(w, op->d[0], r);                                                                   \
        return op + 1;                                                                             \
    }

typedef unsigned __int128 u128;
CARRY_ADD(addc_32, u32, u64, (u64)x + y + (carry >> i & 1))
CARRY_ADD(addc_64, u64, u128, (u128)x + y + (carry >> i & 1))
CARRY_ADD(subc_32, u32, u64, (u64)x - y - (carry >> i & 1))
CARRY_ADD(subc_64, u64, u128, (u128)x - y - (carry >> i & 1))
CARRY_ADD(madc_lo_32, u32, u64, (u64)(u32)(x *y) + z + (carry >> i & 1))
CARRY_ADD(madc_hi_u32, u32, u64, (u64)(u32)(wide_u(x, y) >> 32) + z + (carry >> i & 1))
CARRY_ADD(madc_hi_s32, u32, u64, (u64)(u32)(wide_s((s32)x, (s32)y) >> 32) + z + (carry >> i & 1))
CARRY_ADD(madc_lo_64, u64, u128, (u128)(x *y) + z + (carry >> i & 1))
CARRY_ADD(madc_hi_u64, u64, u128, (u128)high_u64(x, y) + z + (carry >> i & 1))

/* ---- predicates, comparison, selection */

HANDLER(mov_pred)
{
    pred_store(w, op->d[0], *pred(w, op->a));
    return op + 1;
}

HANDLER(and_pred)
{
    pred_store(w, op->d[0], *pred(w, op->a) & *pred(w, op->b));
    return op + 1;
}

HANDLER(or_pred)
{
    pred_store(w, op->d[0], *pred(w, op->a) | *pred(w, op->b));
    return op + 1;
}

HANDLER(xor_pred)
{
    pred_store(w, op->d[0], *pred(w, op->a) ^ *pred(w, op->b));
    return op + 1;
}

HANDLER(not_pred)
{
    pred_store(w, op->d[0], ~*pred(w, op->a));
    return op + 1;
}

VECTOR_OP(selp_32, 32, vu32, v32_pick(v32_spread(*pred(w, op->c) >> (k * V32_LANES)), x, y), LOAD2)
VECTOR_OP(selp_64, 64, vu64, v64_pick(v64_spread(*pred(w, op->c) >> (k * V64_LANES)), x, y), LOAD2)

TERNARY3(slct_32_s32, u32, u32, u32, s32, z >= 0 ? x : y)
TERNARY3(slct_64_s32, u64, u64, u64, s32, z >= 0 ? x : y)
/* With .ftz a negative subnormal counts as -0, which is not below zero. */
#define NOT_BELOW(z) ((z) >= 0 || (op->flags & OP_FTZ && (z) > -0x1p-126f))
TERNARY3(slct_32_f32, u32, u32, u32, f32, NOT_BELOW(z) ? x : y)
TERNARY3(slct_64_f32, u64, u64, u64, f32, NOT_BELOW(z) ? x : y)
