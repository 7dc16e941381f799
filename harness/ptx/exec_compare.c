/* Comparisons: setp, set. op->mode is the comparison in the order of enum compare, op->mode2 how it
 * is combined with predicate c. */
#include "harness/ptx/handlers.h"

#include "harness/ptx/float.h"

enum compare {
    CMP_EQ,
    CMP_NE,
    CMP_LT,
    CMP_LE,
    CMP_GT,
    CMP_GE,
    CMP_LO,
    CMP_LS,
    CMP_HI,
    CMP_HS,
    CMP_EQU,
    CMP_NEU,
    CMP_LTU,
    CMP_LEU,
    CMP_GTU,
    CMP_GEU,
    CMP_NUM,
    CMP_NAN,
};

/* One bit per lane where EXPR (a vector comparison of x and y) holds. */
#define BITS(B, T, EXPR)                                                                           \
    do {                                                                                           \
        for (int k = 0; k < V##B##_COUNT; k++) {                                                   \
            LOAD2(T)                                                                               \
            bits |= v##B##_bits((vs##B)(EXPR)) << (k * V##B##_LANES);                              \
        }                                                                                          \
    } while (0)

#define COMPARE_INT(name, B, T)                                                                    \
    static u32 name(const struct warp *w, const struct op *op)                                     \
    {                                                                                              \
        u32 bits = 0;                                                                              \
        switch (op->mode) {                                                                        \
        case CMP_EQ:                                                                               \
            BITS(B, T, x == y);                                                                    \
            break;                                                                                 \
        case CMP_NE:                                                                               \
            BITS(B, T, x != y);                                                                    \
            break;                                                                                 \
        case CMP_LT:                                                                               \
        case CMP_LO:                                                                               \
            BITS(B, T, x < y);                                                                     \
            break;                                                                                 \
        case CMP_LE:                                                                               \
        case CMP_LS:                                                                               \
            BITS(B, T, x <= y);                                                                    \
            break;                                                                                 \
        case CMP_GT:                                                                               \
        case CMP_HI:                                                                               \
            BITS(B, T, x > y);                                                                     \
            break;                                                                                 \
        default:                                                                                   \
            BITS(B, T, x >= y);                                                                    \
            break;                                                                                 \
        }                                                                                          \
        return bits;                                                                               \
    }

COMPARE_INT(compare_s32, 32, vs32)
COMPARE_INT(compare_u32, 32, vu32)
COMPARE_INT(compare_s64, 64, vs64)
COMPARE_INT(compare_u64, 64, vu64)

static u32 compare_s16(const struct warp *w, const struct op *op)
{
    const u32 *a = SRC(u32, op->a), *b = SRC(u32, op->b);
    u32 bits = 0;
    for (int i = 0; i < WARP_LANES; i++) {
        s32 x = (int16_t)a[i], y = (int16_t)b[i];
        bool yes = op->mode == CMP_EQ   ? x == y
                   : op->mode == CMP_NE ? x != y
                   : op->mode == CMP_LT ? x < y
                   : op->mode == CMP_LE ? x <= y
                   : op->mode == CMP_GT ? x > y
                                        : x >= y;
        bits |= (u32)yes << i;
    }
    return bits;
}

/* Ordered comparisons are false when a side is NaN, the ...U ones true. */
#define COMPARE_FLOAT(name, B, T, LOAD)                                                            \
    static u32 name(const struct warp *w, const struct op *op)                                     \
    {                                                                                              \
        u32 lt = 0, gt = 0, eq = 0;                                                                \
        for (int k = 0; k < V##B##_COUNT; k++) {                                                   \
            LOAD(T)                                                                                \
            lt |= v##B##_bits((vs##B)(x < y)) << (k * V##B##_LANES);                               \
            gt |= v##B##_bits((vs##B)(x > y)) << (k * V##B##_LANES);                               \
            eq |= v##B##_bits((vs##B)(x == y)) << (k * V##B##_LANES);                              \
        }                                                                                          \
        return compare_pick(op->mode, lt, gt, eq);                                                 \
    }

static inline u32 compare_pick(unsigned mode, u32 lt, u32 gt, u32 eq)
{
    u32 ordered = lt | gt | eq;
    switch (mode) {
    case CMP_EQ:
        return eq;
    case CMP_NE:
        return lt | gt;
    case CMP_LT:
        return lt;
    case CMP_LE:
        return lt | eq;
    case CMP_GT:
        return gt;
    case CMP_GE:
        return gt | eq;
    case CMP_EQU:
        return eq | ~ordered;
    case CMP_NEU:
        return ~eq;
    case CMP_LTU:
        return lt | ~ordered;
    case CMP_LEU:
        return ~gt;
    case CMP_GTU:
        return gt | ~ordered;
    case CMP_GEU:
        return ~lt;
    case CMP_NUM:
        return ordered;
    default:
        return ~ordered;
    }
}

COMPARE_FLOAT(compare_f32, 32, vf32, LOAD2)
COMPARE_FLOAT(compare_f64, 64, vf64, LOAD2)

/* Scalar kinds: two loads that give floats, with ftz applied. */
#define COMPARE_SCALAR(name, LOADX, LOADY)                                                         \
    static u32 name(const struct warp *w, const struct op *op)                                     \
    {                                                                                              \
        const u32 *a = SRC(u32, op->a), *b = SRC(u32, op->b);                                      \
        u32 lt = 0, gt = 0, eq = 0;                                                                \
        for (int i = 0; i < WARP_LANES; i++) {                                                     \
            float x = LOADX(a[i]), y = LOADY(b[i]);                                                \
            lt |= (u32)(x < y) << i;                                                               \
            gt |= (u32)(x > y) << i;                                                               \
            eq |= (u32)(x == y) << i;                                                              \
        }                                                                                          \
        return compare_pick(op->mode, lt, gt, eq);                                                 \
    }

static inline float low_f16(u32 x)
{
    return f16_to_f32((uint16_t)x);
}

static inline float high_f16(u32 x)
{
    return f16_to_f32((uint16_t)(x >> 16));
}

static inline float low_bf16(u32 x)
{
    return bits_f32(x << 16);
}

static inline float high_bf16(u32 x)
{
    return bits_f32(x & 0xffff0000u);
}

static inline float flushed_f32(u32 x)
{
    return bits_f32(flush_bits(x));
}

COMPARE_SCALAR(compare_ftz_f32, flushed_f32, flushed_f32)
COMPARE_SCALAR(compare_f16, low_f16, low_f16)
COMPARE_SCALAR(compare_f16_high, high_f16, high_f16)
COMPARE_SCALAR(compare_bf16, low_bf16, low_bf16)
COMPARE_SCALAR(compare_bf16_high, high_bf16, high_bf16)

/* mode2: 0 alone, 1 and, 2 or, 3 xor with predicate c. */
static inline u32 combine(const struct warp *w, const struct op *op, u32 bits)
{
    if (likely(!op->mode2))
        return bits;
    u32 c = *pred(w, op->c);
    if (op->flags & OP_NEG_C)
        c = ~c;
    return op->mode2 == 1 ? bits & c : op->mode2 == 2 ? bits | c : bits ^ c;
}

/* d[0] gets the comparison, d[1] (0: none) its opposite; both combined with c. */
static inline const struct op *set_predicates(struct warp *w, const struct op *op, u32 bits)
{
    u32 opposite = op->d[1] ? combine(w, op, ~bits) : 0;
    u32 result = combine(w, op, bits);
    if (op->d[0])
        pred_store(w, op->d[0], result);
    if (op->d[1])
        pred_store(w, op->d[1], opposite);
    return op + 1;
}

#define SETP(type)                                                                                 \
    HANDLER(setp_##type)                                                                           \
    {                                                                                              \
        return set_predicates(w, op, compare_##type(w, op));                                       \
    }

SETP(s16)
SETP(s32)
SETP(u32)
SETP(s64)
SETP(u64)
SETP(f32)
SETP(ftz_f32)
SETP(f64)
SETP(f16)
SETP(bf16)

/* p|q of packed halves are the low and the high comparison. */
HANDLER(setp_f16x2)
{
    u32 high = combine(w, op, compare_f16_high(w, op)), low = combine(w, op, compare_f16(w, op));
    pred_store(w, op->d[0], low);
    pred_store(w, op->d[1], high);
    return op + 1;
}

HANDLER(setp_bf16x2)
{
    u32 high = combine(w, op, compare_bf16_high(w, op)), low = combine(w, op, compare_bf16(w, op));
    pred_store(w, op->d[0], low);
    pred_store(w, op->d[1], high);
    return op + 1;
}

/* op->imm is what "true" looks like in the destination. */
static inline const struct op *set_value(struct warp *w, const struct op *op, u32 bits)
{
    ALIGNED u32 r[WARP_LANES];
    bits = combine(w, op, bits);
    LANES r[i] = bits >> i & 1 ? (u32)op->imm : 0;
    put32(w, op->d[0], r);
    return op + 1;
}

#define SET(type)                                                                                  \
    HANDLER(set_##type)                                                                            \
    {                                                                                              \
        return set_value(w, op, compare_##type(w, op));                                            \
    }

SET(s16)
SET(s32)
SET(u32)
SET(s64)
SET(u64)
SET(f32)
SET(ftz_f32)
SET(f64)
SET(f16)
SET(bf16)

/* Packed results: `true` is op->imm in each half. */
static inline const struct op *set_pair(struct warp *w, const struct op *op, u32 low, u32 high)
{
    ALIGNED u32 r[WARP_LANES];
    u32 value = (u32)op->imm & 0xffff;
    low = combine(w, op, low);
    high = combine(w, op, high);
    LANES r[i] = (low >> i & 1 ? value : 0) | (high >> i & 1 ? value << 16 : 0);
    put32(w, op->d[0], r);
    return op + 1;
}

HANDLER(set_f16x2)
{
    return set_pair(w, op, compare_f16(w, op), compare_f16_high(w, op));
}

HANDLER(set_bf16x2)
{
    return set_pair(w, op, compare_bf16(w, op), compare_bf16_high(w, op));
}

/* mode: 0 finite, 1 infinite, 2 number, 3 notanumber, 4 normal, 5 subnormal */
static inline bool test_class(unsigned mode, bool is_nan, bool is_inf, bool is_sub)
{
    switch (mode) {
    case 0:
        return !is_nan && !is_inf;
    case 1:
        return is_inf;
    case 2:
        return !is_nan;
    case 3:
        return is_nan;
    case 4: /* zero is a normal number here, as the ISA says */
        return !is_nan && !is_inf && !is_sub;
    default:
        return is_sub;
    }
}

HANDLER(testp_f32)
{
    const u32 *a = SRC(u32, op->a);
    u32 bits = 0;
    for (int i = 0; i < WARP_LANES; i++) {
        u32 x = a[i] & 0x7fffffff;
        bool yes = test_class(op->mode, x > 0x7f800000, x == 0x7f800000, x && x < 0x00800000);
        bits |= (u32)yes << i;
    }
    pred_store(w, op->d[0], bits);
    return op + 1;
}

HANDLER(testp_f64)
{
    const u64 *a = SRC(u64, op->a);
    u32 bits = 0;
    for (int i = 0; i < WARP_LANES; i++) {
        u64 x = a[i] & 0x7fffffffffffffffull, inf = 0x7ff0000000000000ull;
        bool yes = test_class(op->mode, x > inf, x == inf, x && x < 0x0010000000000000ull);
        bits |= (u32)yes << i;
    }
    pred_store(w, op->d[0], bits);
    return op + 1;
}
