/* The operations' handlers: their numbers, their tables per instruction set, and the macros that
 * the exec_*.c files are written with.
 *
 * Each exec_*.c is compiled once per instruction set (SSE2, AVX2, AVX-512); every handler then
 * exists as op_<name>_base, op_<name>_avx2 and op_<name>_avx512, and exec_table.c makes a table of
 * each set.
 *
 * A handler reads lanes of all 32 threads, also of those that are switched off, and writes only the
 * lanes in w->mask. */
#ifndef STRIDE_PTX_HANDLERS_H
#define STRIDE_PTX_HANDLERS_H

#include "harness/ptx/exec.h"
#include "harness/ptx/vec.h"

enum handler {
#define H(name) H_##name,
#include "harness/ptx/handlers.def"
#undef H
    H_COUNT
};

/* Runs a warp until it has to stop: everything it has waits, ended, yielded, or failed. */
#define EXEC_TABLE(isa)                                                                            \
    extern op_run *const exec_table_##isa[H_COUNT];                                                \
    void exec_warp_##isa(struct warp *w);
EXEC_TABLE(base)
EXEC_TABLE(avx2)
EXEC_TABLE(avx512)
#undef EXEC_TABLE

#define OP_NAME(name) ISA(op_##name)
#define UNUSED        __attribute__((unused))
#define HANDLER(name)                                                                              \
    const struct op *OP_NAME(name)(UNUSED struct warp * w, UNUSED const struct op *op)

#define H(name) HANDLER(name);
#include "harness/ptx/handlers.def"
#undef H

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#ifdef __clang__
#define LANES for (int i = 0; i < WARP_LANES; i++)
#else
#define LANES _Pragma("GCC ivdep") for (int i = 0; i < WARP_LANES; i++)
#endif
#define EACH(mask)                                                                                 \
    for (uint32_t left_ = (mask), i = 0; left_ && ((i = (uint32_t)__builtin_ctz(left_)), 1);       \
         left_ &= left_ - 1)
#define ALIGNED __attribute__((aligned(64)))

typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;

static inline bool whole(const struct warp *w)
{
    return likely(w->mask == w->live);
}

/* Stores 32 lanes of 4 bytes into a register, masked. */
static inline void put32(struct warp *w, uint32_t offset, const void *lanes)
{
    char *d = (char *)reg32(w, offset);
    const char *s = __builtin_assume_aligned(lanes, 64);
    if (whole(w)) {
        for (int k = 0; k < V32_COUNT; k++)
            *(vu32 *)(d + k * V_BYTES) = *(const vu32 *)(s + k * V_BYTES);
        return;
    }
    for (int k = 0; k < V32_COUNT; k++) {
        vu32 *to = (vu32 *)(d + k * V_BYTES);
        *to =
            v32_pick(v32_spread(w->mask >> (k * V32_LANES)), *(const vu32 *)(s + k * V_BYTES), *to);
    }
}

static inline void put64(struct warp *w, uint32_t offset, const void *lanes)
{
    char *d = (char *)reg64(w, offset);
    const char *s = __builtin_assume_aligned(lanes, 64);
    if (whole(w)) {
        for (int k = 0; k < V64_COUNT; k++)
            *(vu64 *)(d + k * V_BYTES) = *(const vu64 *)(s + k * V_BYTES);
        return;
    }
    for (int k = 0; k < V64_COUNT; k++) {
        vu64 *to = (vu64 *)(d + k * V_BYTES);
        *to =
            v64_pick(v64_spread(w->mask >> (k * V64_LANES)), *(const vu64 *)(s + k * V_BYTES), *to);
    }
}

static inline void put32_same(struct warp *w, uint32_t offset, uint32_t value)
{
    ALIGNED u32 r[WARP_LANES];
    LANES r[i] = value;
    put32(w, offset, r);
}

static inline void put64_same(struct warp *w, uint32_t offset, uint64_t value)
{
    ALIGNED u64 r[WARP_LANES];
    LANES r[i] = value;
    put64(w, offset, r);
}

/* Register of either size, by its bytes. */
static inline void put_any(struct warp *w, uint32_t offset, unsigned bytes, const uint64_t *lanes)
{
    if (bytes == 8) {
        put64(w, offset, lanes);
        return;
    }
    ALIGNED u32 r[WARP_LANES];
    uint32_t keep = bytes == 2 ? 0xffff : bytes == 1 ? 0xff : UINT32_MAX;
    LANES r[i] = (u32)lanes[i] & keep;
    put32(w, offset, r);
}

#define SRC(type, offset) ((const type *)__builtin_assume_aligned(w->regs + (offset), 64))

/* Lane-wise operations. O and I are the lane types of result and sources (their size picks the
 * register size); EXPR uses x, y, z. */
#define PUT_u32 put32
#define PUT_s32 put32
#define PUT_f32 put32
#define PUT_u64 put64
#define PUT_s64 put64
#define PUT_f64 put64

#define UNARY(name, O, I, EXPR)                                                                    \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const I *a = SRC(I, op->a);                                                                \
        ALIGNED O r[WARP_LANES];                                                                   \
        LANES                                                                                      \
        {                                                                                          \
            I x = a[i];                                                                            \
            r[i] = (O)(EXPR);                                                                      \
        }                                                                                          \
        PUT_##O(w, op->d[0], r);                                                                   \
        return op + 1;                                                                             \
    }

#define BINARY2(name, O, I, J, EXPR)                                                               \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const I *a = SRC(I, op->a);                                                                \
        const J *b = SRC(J, op->b);                                                                \
        ALIGNED O r[WARP_LANES];                                                                   \
        LANES                                                                                      \
        {                                                                                          \
            I x = a[i];                                                                            \
            J y = b[i];                                                                            \
            r[i] = (O)(EXPR);                                                                      \
        }                                                                                          \
        PUT_##O(w, op->d[0], r);                                                                   \
        return op + 1;                                                                             \
    }
#define BINARY(name, O, I, EXPR) BINARY2(name, O, I, I, EXPR)

#define TERNARY3(name, O, I, J, K, EXPR)                                                           \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        const I *a = SRC(I, op->a);                                                                \
        const J *b = SRC(J, op->b);                                                                \
        const K *c = SRC(K, op->c);                                                                \
        ALIGNED O r[WARP_LANES];                                                                   \
        LANES                                                                                      \
        {                                                                                          \
            I x = a[i];                                                                            \
            J y = b[i];                                                                            \
            K z = c[i];                                                                            \
            r[i] = (O)(EXPR);                                                                      \
        }                                                                                          \
        PUT_##O(w, op->d[0], r);                                                                   \
        return op + 1;                                                                             \
    }
#define TERNARY(name, O, I, EXPR) TERNARY3(name, O, I, I, I, EXPR)

/* The hot ones, in explicit vectors: T is the vector type, B its lane size in bits. EXPR uses x, y,
 * z and yields a vector of V's size. */
#define VECTOR_OP(name, B, T, EXPR, LOAD)                                                          \
    HANDLER(name)                                                                                  \
    {                                                                                              \
        vu##B *d = (vu##B *)(w->regs + op->d[0]);                                                  \
        if (whole(w)) {                                                                            \
            for (int k = 0; k < V##B##_COUNT; k++) {                                               \
                LOAD(T)                                                                            \
                d[k] = (vu##B)(EXPR);                                                              \
            }                                                                                      \
        } else {                                                                                   \
            for (int k = 0; k < V##B##_COUNT; k++) {                                               \
                LOAD(T)                                                                            \
                d[k] = v##B##_pick(v##B##_spread(w->mask >> (k * V##B##_LANES)), (vu##B)(EXPR),    \
                                   d[k]);                                                          \
            }                                                                                      \
        }                                                                                          \
        return op + 1;                                                                             \
    }
#define LOAD1(V)                  V x = ((const V *)(w->regs + op->a))[k];
#define LOAD2(V)                  LOAD1(V) V y = ((const V *)(w->regs + op->b))[k];
#define LOAD3(V)                  LOAD2(V) V z = ((const V *)(w->regs + op->c))[k];
#define VECTOR1(name, B, T, EXPR) VECTOR_OP(name, B, T, EXPR, LOAD1)
#define VECTOR2(name, B, T, EXPR) VECTOR_OP(name, B, T, EXPR, LOAD2)
#define VECTOR3(name, B, T, EXPR) VECTOR_OP(name, B, T, EXPR, LOAD3)

#endif
