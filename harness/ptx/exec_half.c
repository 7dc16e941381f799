/* Half precision and bfloat16, single and packed. Arithmetic is done in double precision and
 * rounded once. op->mode is 0 for f16 and 1 for bf16 in all handlers; packed ones do both halves.
 */
#include "harness/ptx/handlers.h"

#include "harness/ptx/float.h"

#include <math.h>

/* Flags of op->mode2 beyond OP_FTZ and OP_SAT: */
enum { HALF_RELU = 1, HALF_NAN = 2, HALF_XORSIGN = 4, HALF_MAX = 8 };

/* With .ftz, subnormal to zero of the same sign. */
static inline u32 half_flush(const struct op *op, u32 h)
{
    return (op->flags & OP_FTZ) && !(h & (op->mode ? 0x7f80u : 0x7c00u)) ? h & 0x8000 : h;
}

static inline double half_in(const struct op *op, u32 bits)
{
    u32 h = half_flush(op, bits & 0xffff);
    return op->mode ? bf16_to_f32((uint16_t)h) : f16_to_f32((uint16_t)h);
}

static inline u32 half_out(const struct op *op, double x)
{
    if (op->flags & OP_SAT)
        x = x > 0 ? (x < 1 ? x : 1) : 0;
    if ((op->mode2 & HALF_RELU) && !(x > 0) && x == x)
        x = 0;
    return half_flush(op, op->mode ? f64_to_bf16(x, ROUND_RN) : f64_to_f16(x, ROUND_RN));
}

#define HALF(name, ARGS, EXPR)                                                                     \
    static u32 half_##name(const struct op *op, u32 xb, u32 yb, u32 zb)                            \
    {                                                                                              \
        double x = half_in(op, xb), y = ARGS > 1 ? half_in(op, yb) : 0;                            \
        double z = ARGS > 2 ? half_in(op, zb) : 0;                                                 \
        (void)y;                                                                                   \
        (void)z;                                                                                   \
        return half_out(op, EXPR);                                                                 \
    }                                                                                              \
    HALF_HANDLERS(name, ARGS)

#define HALF_HANDLERS(name, ARGS)                                                                  \
    HANDLER(name##_half)                                                                           \
    {                                                                                              \
        const u32 *a = SRC(u32, op->a), *b = SRC(u32, ARGS > 1 ? op->b : op->a);                   \
        const u32 *c = SRC(u32, ARGS > 2 ? op->c : op->a);                                         \
        ALIGNED u32 r[WARP_LANES];                                                                 \
        for (int i = 0; i < WARP_LANES; i++)                                                       \
            r[i] = half_##name(op, a[i], b[i], c[i]);                                              \
        put32(w, op->d[0], r);                                                                     \
        return op + 1;                                                                             \
    }                                                                                              \
    HANDLER(name##_half2)                                                                          \
    {                                                                                              \
        const u32 *a = SRC(u32, op->a), *b = SRC(u32, ARGS > 1 ? op->b : op->a);                   \
        const u32 *c = SRC(u32, ARGS > 2 ? op->c : op->a);                                         \
        ALIGNED u32 r[WARP_LANES];                                                                 \
        for (int i = 0; i < WARP_LANES; i++)                                                       \
            r[i] = half_##name(op, a[i], b[i], c[i]) |                                             \
                   half_##name(op, a[i] >> 16, b[i] >> 16, c[i] >> 16) << 16;                      \
        put32(w, op->d[0], r);                                                                     \
        return op + 1;                                                                             \
    }

HALF(add, 2, add_odd(x, y))
HALF(sub, 2, add_odd(x, -y))
HALF(mul, 2, x *y)
HALF(fma, 3, fma_odd(x, y, z))
HALF(ex2, 1, exp2(x))
HALF(tanh, 1, tanh(x))

/* An addition for the hardware, so NaN comes out as it does of one. */
static u32 half_neg(const struct op *op, u32 x, u32 y, u32 z)
{
    (void)y;
    (void)z;
    u32 h = half_flush(op, x & 0xffff), infinity = op->mode ? 0x7f80u : 0x7c00u;
    return (h & 0x7fff) > infinity ? NAN_F16 : h ^ 0x8000;
}
HALF_HANDLERS(neg, 1)

static u32 half_abs(const struct op *op, u32 x, u32 y, u32 z)
{
    return half_neg(op, x, y, z) & 0x7fff;
}
HALF_HANDLERS(abs, 1)

static u32 half_minmax(const struct op *op, u32 xb, u32 yb, u32 zb)
{
    (void)zb;
    double x = half_in(op, xb), y = half_in(op, yb);
    u32 sign = (xb ^ yb) & 0x8000;
    if (x != x || y != y) {
        if ((op->mode2 & HALF_NAN) || (x != x && y != y))
            return NAN_F16;
        double number = x != x ? y : x;
        if (op->mode2 & HALF_XORSIGN)
            return (half_out(op, fabs(number)) & 0x7fff) | sign;
        return half_out(op, number);
    }
    if (op->mode2 & HALF_XORSIGN) {
        x = fabs(x);
        y = fabs(y);
    }
    bool first = x == y ? signbit(x) : x < y;
    double r = first == !(op->mode2 & HALF_MAX) ? x : y;
    u32 bits = half_out(op, r);
    return op->mode2 & HALF_XORSIGN ? (bits & 0x7fff) | sign : bits;
}
HALF_HANDLERS(minmax, 2)
