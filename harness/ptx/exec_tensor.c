/* Products of matrices, by a whole warp. All go the same way: fragments to plain row-major
 * matrices, arithmetic on those, and back. matrix.h says where a fragment's elements are.
 *
 * f16, bf16 and tf32 multiply exactly and add up in single precision, in order of k; a GPU adds in
 * an order of its own and may cut instead of round, so the last bits differ. tf32 operands lose
 * their low 13 bits, as on the hardware. Products of 8-bit floats are exact as well, but what a GPU
 * adds them up in may have less than single precision. Integers are exact.
 *
 * Elements of less than a byte stay packed: a by rows, b by columns. */
#include "harness/ptx/tensor.h"

#include "harness/ptx/float.h"

#include <math.h>

enum { MOST_M = 32, MOST_N = 32, MOST_K = 32 };

/* ---- products */

/* Rows of a matrix with columns to spare, so that a vector is never wider than a row. */
enum { PADDED_N = MOST_N };
_Static_assert((int)PADDED_N >= (int)V32_LANES, "a vector fits a row");

static inline u32 padded(u32 n)
{
    return n < V32_LANES ? V32_LANES : n;
}

static inline vf32 multiply_add(vf32 a, vf32 b, vf32 c)
{
#if defined(V_AVX512)
    return (vf32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(V_AVX2)
    return (vf32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c; /* the products of the narrow types are exact */
#endif
}

/* c += a * b; m is a multiple of 8, rows of b and c are padded. */
static void product_f32(f32 *c, const f32 *a, const f32 *b, u32 m, u32 n, u32 k)
{
    u32 width = padded(n);
    for (u32 j = 0; j < width; j += V32_LANES) {
        for (u32 i = 0; i < m; i += 8) {
            vf32 sum[8];
            for (u32 r = 0; r < 8; r++)
                memcpy(&sum[r], c + (i + r) * width + j, V_BYTES);
            for (u32 q = 0; q < k; q++) {
                vf32 row;
                memcpy(&row, b + q * width + j, V_BYTES);
                for (u32 r = 0; r < 8; r++)
                    sum[r] = multiply_add((vf32){0} + a[(i + r) * k + q], row, sum[r]);
            }
            for (u32 r = 0; r < 8; r++)
                memcpy(c + (i + r) * width + j, &sum[r], V_BYTES);
        }
    }
}

static void product_s32(s32 *c, const s32 *a, const s32 *b, u32 m, u32 n, u32 k)
{
    u32 width = padded(n);
    for (u32 j = 0; j < width; j += V32_LANES) {
        for (u32 i = 0; i < m; i++) {
            vu32 sum = {0};
            for (u32 q = 0; q < k; q++)
                sum += v32_load(b + q * width + j) * v32_set((u32)a[i * k + q]);
            v32_store(c + i * width + j, sum);
        }
    }
}

/* ---- elements in and out */

static void halves_to_f32(f32 *out, const uint16_t *in, u32 count)
{
#if defined(V_AVX512) || defined(V_AVX2)
    for (u32 i = 0; i < count; i += 8)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(in + i))));
#else
    for (u32 i = 0; i < count; i++)
        out[i] = f16_to_f32(in[i]);
#endif
}

/* NaN must be the canonical one already. */
static void f32_to_halves(uint16_t *out, const f32 *in, u32 count)
{
#if defined(V_AVX512) || defined(V_AVX2)
    for (u32 i = 0; i < count; i += 8)
        _mm_storeu_si128((void *)(out + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
#else
    for (u32 i = 0; i < count; i++)
        out[i] = f64_to_f16((f64)in[i], ROUND_RN);
#endif
}

static f32 widen_fp8(uint8_t x, enum matrix_type type)
{
    if (type == MATRIX_E5M2)
        return f16_to_f32((uint16_t)(x << 8));
    u32 sign = (u32)(x & 0x80) << 24, exponent = x >> 3 & 15, mantissa = x & 7;
    if ((x & 0x7f) == 0x7f)
        return bits_f32(NAN_F32);
    if (exponent)
        return bits_f32(sign | (exponent + 120) << 23 | mantissa << 20);
    f32 tiny = (f32)mantissa * 0x1p-9f;
    return sign ? -tiny : tiny;
}

/* Elements of a packed row-major matrix as single precision. */
static void widen_f32(f32 *out, const void *packed, enum matrix_type type, u32 count)
{
    const uint16_t *halves = packed;
    const u32 *words = packed;
    u32 *bits = (u32 *)(void *)out;
    switch (type) {
    case MATRIX_F16:
        halves_to_f32(out, halves, count);
        break;
    case MATRIX_BF16:
        for (u32 i = 0; i < count; i++)
            bits[i] = (u32)halves[i] << 16;
        break;
    case MATRIX_E4M3:
    case MATRIX_E5M2:
        for (u32 i = 0; i < count; i++)
            out[i] = widen_fp8(((const uint8_t *)packed)[i], type);
        break;
    case MATRIX_TF32:
        for (u32 i = 0; i < count; i++)
            bits[i] = words[i] & 0xffffe000u;
        break;
    default:
        memcpy(out, packed, count * sizeof *out);
        break;
    }
}

static s32 nibble(const uint8_t *bytes, u32 i, enum matrix_type type)
{
    s32 x = bytes[i / 2] >> i % 2 * 4 & 15;
    return type == MATRIX_S4 && x > 7 ? x - 16 : x;
}

/* b, of nibbles packed by columns. */
static void widen_columns(s32 *out, const uint8_t *packed, enum matrix_type type, u32 rows,
                          u32 columns)
{
    for (u32 j = 0; j < columns; j++)
        for (u32 i = 0; i < rows; i++)
            out[i * columns + j] = nibble(packed + j * rows / 2, i, type);
}

static void widen_s32(s32 *out, const void *packed, enum matrix_type type, u32 count)
{
    const uint8_t *bytes = packed;
    if (matrix_type_bits(type) == 4) {
        for (u32 i = 0; i < count; i++)
            out[i] = nibble(bytes, i, type);
        return;
    }
    for (u32 i = 0; i < count; i++)
        out[i] = type == MATRIX_S8 ? (int8_t)bytes[i] : bytes[i];
}

/* Row-major to padded rows, in place: from the end, since rows move up. */
static void pad(u32 *matrix, u32 rows, u32 columns)
{
    u32 width = padded(columns);
    if (width == columns)
        return;
    for (u32 i = rows; i-- > 0;) {
        memmove(matrix + i * width, matrix + i * columns, columns * sizeof *matrix);
        memset(matrix + i * width + columns, 0, (width - columns) * sizeof *matrix);
    }
}

static void unpad(u32 *matrix, u32 rows, u32 columns)
{
    u32 width = padded(columns);
    for (u32 i = 1; i < rows && width != columns; i++)
        memmove(matrix + i * columns, matrix + i * width, columns * sizeof *matrix);
}

struct operands { /* packed, row-major */
    ALIGNED uint8_t a[MATRIX_BYTES], b[MATRIX_BYTES], c[MATRIX_BYTES];
};

/* d = a * b + c on packed matrices; d replaces c, in d's type. */
static void multiply_float(struct operands *o, const struct matrix *x)
{
    ALIGNED f32 a[MOST_M * MOST_K], b[MOST_K * PADDED_N], c[MOST_M * PADDED_N];
    u32 count = (u32)x->m * x->n;
    widen_f32(a, o->a, x->a.type, (u32)x->m * x->k);
    widen_f32(b, o->b, x->b.type, (u32)x->k * x->n);
    widen_f32(c, o->c, x->c.type, count);
    pad((u32 *)(void *)b, x->k, x->n);
    pad((u32 *)(void *)c, x->m, x->n);
    product_f32(c, a, b, x->m, x->n, x->k);
    unpad((u32 *)(void *)c, x->m, x->n);
    for (u32 i = 0; i < count; i++)
        c[i] = bits_f32(canonical_f32(c[i]));
    if (x->d.type == MATRIX_F16)
        f32_to_halves((uint16_t *)(void *)o->c, c, count);
    else
        memcpy(o->c, c, count * sizeof *c);
}

static void multiply_int(struct operands *o, const struct matrix *x)
{
    ALIGNED s32 a[MOST_M * MOST_K], b[MOST_K * PADDED_N], sum[MOST_M * PADDED_N];
    s32 *c = (s32 *)(void *)o->c;
    widen_s32(a, o->a, x->a.type, (u32)x->m * x->k);
    if (matrix_type_bits(x->b.type) == 4)
        widen_columns(b, o->b, x->b.type, x->k, x->n);
    else
        widen_s32(b, o->b, x->b.type, (u32)x->k * x->n);
    pad((u32 *)(void *)b, x->k, x->n);
    product_s32(sum, a, b, x->m, x->n, x->k);
    unpad((u32 *)(void *)sum, x->m, x->n);
    for (u32 i = 0; i < (u32)x->m * x->n; i++) {
        s64 exact = (s64)sum[i] + c[i];
        if (x->saturates)
            exact = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
        c[i] = (s32)(u32)(u64)exact;
    }
}

static void multiply_double(struct operands *o, const struct matrix *x)
{
    const f64 *a = (const f64 *)(void *)o->a, *b = (const f64 *)(void *)o->b;
    f64 *c = (f64 *)(void *)o->c;
    for (u32 i = 0; i < x->m; i++)
        for (u32 q = 0; q < x->k; q++)
            for (u32 j = 0; j < x->n; j++)
                c[i * x->n + j] = fma(a[i * x->k + q], b[q * x->n + j], c[i * x->n + j]);
}

/* Of single bits: how many of a row and a column are both set, or differ. */
static void multiply_bits(struct operands *o, const struct matrix *x)
{
    s32 *c = (s32 *)(void *)o->c;
    const u32 bytes = x->k / 8u;
    for (u32 i = 0; i < x->m; i++)
        for (u32 j = 0; j < x->n; j++)
            for (u32 q = 0; q < bytes; q += 8) {
                u64 row, column;
                memcpy(&row, o->a + i * bytes + q, 8);
                memcpy(&column, o->b + j * bytes + q, 8);
                s32 ones = __builtin_popcountll(x->by_and ? row & column : row ^ column);
                c[i * x->n + j] = (s32)((u32)c[i * x->n + j] + (u32)ones);
            }
}

static void multiply(struct operands *o, const struct matrix *x)
{
    if (x->a.type == MATRIX_B1)
        multiply_bits(o, x);
    else if (x->a.type == MATRIX_F64)
        multiply_double(o, x);
    else if (x->c.type == MATRIX_S32)
        multiply_int(o, x);
    else
        multiply_float(o, x);
}

/* ---- wmma.mma */

HANDLER(wmma_mma)
{
    WARP_WIDE;
    const struct matrix *x = op->extra;
    struct operands o;
    gather_flat(w, &x->a, o.a);
    gather_flat(w, &x->b, o.b);
    gather_flat(w, &x->c, o.c);
    multiply(&o, x);
    for (u32 r = 0; r < x->d.regs; r++) {
        if (x->d.type == MATRIX_F64)
            put64(w, x->d.reg[r], o.c + r * 256);
        else
            put32(w, x->d.reg[r], o.c + r * 128);
    }
    return collective_end(w, op);
}

/* ---- mma.sync: the ISA's layouts ---------------------------------------------------------------
 *
 * With g = lane / 4 and t = lane % 4: register r of a holds row g + 8 (r odd), columns from (t + 4
 * (r / 2)) * p, p elements to a register; of b rows from (t + 4 r) * p of column g; of c, in words,
 * row g + 8 (r / 2), column 2 t + r % 2, and in halves row g + 8 r, columns 2 t and 2 t + 1. */

static void gather_a(const struct warp *w, const struct fragment *f, uint8_t *flat)
{
    u32 row_bytes = f->columns * matrix_type_bits(f->type) / 8;
    if (f->type == MATRIX_F64) {
        memcpy(flat, w->regs + f->reg[0], 256); /* element (g, t) is lane 4 g + t */
        return;
    }
    for (u32 r = 0; r < f->regs; r++) {
        const u32 *reg = SRC(u32, f->reg[r]);
        u32 row = (r & 1) * 8, column = r / 2 * 16;
        for (u32 g = 0; g < 8; g++)
            memcpy(flat + (row + g) * row_bytes + column, reg + 4 * g, 16);
    }
}

static void gather_b(const struct warp *w, const struct fragment *f, uint8_t *flat)
{
    u32 size = matrix_type_bytes(f->type), each = f->type == MATRIX_F64 ? 1 : 4 / size;
    for (u32 r = 0; r < f->regs; r++) {
        for (u32 lane = 0; lane < WARP_LANES; lane++) {
            const uint8_t *reg = w->regs + f->reg[r] + lane * (f->type == MATRIX_F64 ? 8 : 4);
            u32 row = (lane % 4 + 4 * r) * each;
            for (u32 e = 0; e < each; e++)
                memcpy(flat + ((row + e) * f->columns + lane / 4) * size, reg + e * size, size);
        }
    }
}

/* The same by columns, for elements of less than a byte. */
static void gather_b_packed(const struct warp *w, const struct fragment *f, uint8_t *flat)
{
    u32 column_bytes = f->rows * matrix_type_bits(f->type) / 8;
    for (u32 r = 0; r < f->regs; r++)
        for (u32 g = 0; g < 8; g++)
            memcpy(flat + g * column_bytes + r * 16, SRC(u32, f->reg[r]) + 4 * g, 16);
}

/* c from registers to flat, or back. */
static void move_c(struct warp *w, const struct fragment *f, uint8_t *flat, bool back)
{
    u32 size = f->type == MATRIX_F64 ? 8 : 4, halves = f->type == MATRIX_F16;
    ALIGNED uint8_t value[256];
    for (u32 r = 0; r < f->regs; r++) {
        uint8_t *reg = back ? value : w->regs + f->reg[r];
        u32 row = halves ? 8 * r : r / 2 * 8;
        for (u32 lane = 0; lane < WARP_LANES; lane++) {
            u32 column = halves ? lane % 4 * 2 : lane % 4 * 2 + r % 2;
            uint8_t *at = flat + ((row + lane / 4) * f->columns + column) * (halves ? 2 : size);
            memcpy(back ? reg + lane * size : at, back ? at : reg + lane * size, size);
        }
        if (back && size == 8)
            put64(w, f->reg[r], value);
        else if (back)
            put32(w, f->reg[r], value);
    }
}

HANDLER(mma_sync)
{
    WARP_WIDE;
    const struct matrix *x = op->extra;
    struct operands o;
    gather_a(w, &x->a, o.a);
    if (matrix_type_bits(x->b.type) < 8)
        gather_b_packed(w, &x->b, o.b);
    else
        gather_b(w, &x->b, o.b);
    move_c(w, &x->c, o.c, false);
    multiply(&o, x);
    move_c(w, &x->d, o.c, true);
    return collective_end(w, op);
}
