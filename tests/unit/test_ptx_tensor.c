/* Matrix operations, form by form: wmma by its results (its fragments have no layout of their own),
 * mma.sync, ldmatrix and stmatrix by the element positions that the ISA prints, and the rules of
 * addresses and strides. Every row of ops.def with the rule MATRIX must have run. With
 * STRIDE_PTX_ON=gpu the kernels run on the GPU instead: a test of the test. */
#include "harness/base/buf.h"
#include "harness/ptx/float.h"
#include "harness/ptx/forms.h"
#include "harness/ptx/handlers.h"
#include "tests/ptx/launch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static bool covered[1024];
static uint32_t seed = 1;

static uint32_t noise(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static void cover(const char *opcode)
{
    struct form_match match;
    if (!form_find(&match, opcode))
        fail_msg("no form for %s", opcode);
    covered[match.form - forms] = true;
}

/* ---- elements */

static unsigned size_of(const char *type)
{
    return strstr("s8 u8 e4m3 e5m2", type) ? 1
           : strstr("f16 bf16", type)      ? 2
           : !strcmp(type, "f64")          ? 8
                                           : 4;
}

/* An 8-bit float by its definition: sign, exponent, fraction. NaN and infinity give NaN. */
static double fp8_value(uint8_t x, const char *type)
{
    int fraction_bits = type[1] == '4' ? 3 : 2, bias = type[1] == '4' ? 7 : 15;
    int exponent = (x & 127) >> fraction_bits, fraction = x & ((1 << fraction_bits) - 1);
    double one = 1 << fraction_bits, size;
    if (type[1] == '4' ? (x & 127) == 127 : exponent == 31)
        return NAN;
    if (exponent)
        size = ldexp(1 + fraction / one, exponent - bias);
    else
        size = ldexp(fraction / one, 1 - bias);
    return x & 128 ? -size : size;
}

static uint8_t nearest_fp8(double x, const char *type)
{
    uint8_t best = 0;
    for (unsigned i = 0; i < 256; i++)
        if (fabs(fp8_value((uint8_t)i, type) - x) < fabs(fp8_value(best, type) - x))
            best = (uint8_t)i;
    return best;
}

static void put_element(void *array, unsigned at, const char *type, double x)
{
    uint8_t *p = (uint8_t *)array + at * size_of(type);
    uint16_t h = 0;
    float f = (float)x;
    int32_t i = (int32_t)x;
    if (type[0] == 'e') {
        *p = nearest_fp8(x, type);
        return;
    }
    if (!strcmp(type, "f16"))
        h = f64_to_f16(x, ROUND_RN);
    else if (!strcmp(type, "bf16"))
        h = f64_to_bf16(x, ROUND_RN);
    if (strstr("f16 bf16", type))
        memcpy(p, &h, 2);
    else if (!strcmp(type, "f64"))
        memcpy(p, &x, 8);
    else if (strstr("f32 tf32", type))
        memcpy(p, &f, 4);
    else
        memcpy(p, &i, size_of(type));
}

/* As an operand of a product: tf32 drops its low bits. */
static double get_element(const void *array, unsigned at, const char *type)
{
    const uint8_t *p = (const uint8_t *)array + at * size_of(type);
    uint16_t h;
    uint32_t word;
    double x;
    memcpy(&h, p, 1);
    if (type[0] == 'e')
        return fp8_value(*p, type);
    if (!strcmp(type, "u8"))
        return *p;
    if (!strcmp(type, "s8"))
        return (int8_t)*p;
    if (size_of(type) == 2) {
        memcpy(&h, p, 2);
        return type[0] == 'b' ? bf16_to_f32(h) : f16_to_f32(h);
    }
    memcpy(&word, p, 4);
    if (!strcmp(type, "s32"))
        return (int32_t)word;
    if (!strcmp(type, "tf32"))
        return bits_f32(word >> 13 << 13);
    if (!strcmp(type, "f32"))
        return bits_f32(word);
    memcpy(&x, p, 8);
    return x;
}

/* Small integers are exact in every type and order; fractions are not. */
static double value_for(const char *type, bool fractions, bool is_sum)
{
    if (!strcmp(type, "s8"))
        return (double)(noise() % 256) - 128;
    if (!strcmp(type, "u8"))
        return noise() % 256;
    if (!strcmp(type, "s32"))
        return (double)(noise() % 2000001) - 1000000;
    double whole = (double)(noise() % 9) - 4;
    if (!fractions)
        return is_sum ? whole * 7 : whole;
    if (type[0] == 'e')
        return ldexp(whole + (noise() % 16) / 16.0, (int)(noise() % 12) - 8);
    return whole + (noise() % 4096) / 4096.0;
}

/* ---- one product, whatever the instruction */

struct shape {
    unsigned m, n, k;
    const char *a, *b, *c, *d; /* types */
};

static void check_product(const struct shape *s, const double *a, const double *b, const double *c,
                          const double *d, bool fractions, const char *name)
{
    for (unsigned i = 0; i < s->m; i++) {
        for (unsigned j = 0; j < s->n; j++) {
            long double sum = c[i * s->n + j], weight = fabsl(sum);
            for (unsigned q = 0; q < s->k; q++) {
                long double product = (long double)a[i * s->k + q] * b[q * s->n + j];
                sum += product;
                weight += fabsl(product);
            }
            double got = d[i * s->n + j], allowed = 0;
            if (fractions && strcmp(s->d, "s32") != 0)
                allowed = (double)weight * (!strcmp(s->d, "f64") ? 0x1p-50 : 0x1p-20);
            /* Hopper adds products of 8-bit floats with some 14 bits */
            if (fractions && s->a[0] == 'e' && ptx_job_on_gpu())
                allowed = (double)weight * 0x1p-11;
            if (fractions && !strcmp(s->d, "f16"))
                allowed += fabs((double)sum) * 0x1p-10;
            if (!(fabs(got - (double)sum) <= allowed))
                fail_msg("%s: element %u,%u is %g instead of %g", name, i, j, got, (double)sum);
        }
    }
}

/* ---- wmma */

enum { PLACE = 4096, OUT_BYTES = 4096 };

struct wmma {
    struct shape s;
    const char *shape, *alayout, *blayout, *clayout, *dlayout, *space, *tail;
};

static void add_regs(struct buf *out, const char *name, unsigned count)
{
    buf_add_str(out, "{");
    for (unsigned i = 0; i < count; i++)
        buf_printf(out, "%s%%%s%u", i ? "," : "", name, i);
    buf_add_str(out, "}");
}

static unsigned regs_of(const char *type, unsigned elements, bool operand)
{
    if (!strcmp(type, "f16") && operand)
        return 8;
    return elements * size_of(type) / (!strcmp(type, "f64") ? 256 : 128);
}

static void add_line(struct buf *out, const char *opcode)
{
    cover(opcode);
    buf_printf(out, "%s ", opcode);
}

static void add_wmma_load(struct buf *text, const struct wmma *x, const char *operand,
                          const char *layout, const char *type, unsigned regs, unsigned at,
                          unsigned stride)
{
    char opcode[128];
    snprintf(opcode, sizeof opcode, "wmma.load.%s.sync.aligned.%s.%s.%s%s%s", operand, layout,
             x->shape, x->space, *x->space ? "." : "", type);
    add_line(text, opcode);
    add_regs(text, operand, regs);
    buf_printf(text, ", [%%from+%u], %u;\n", at, stride);
}

/* Which address a space's instruction takes: the copy in shared memory, or the array itself. */
static void add_start(struct buf *text, const char *space)
{
    bool shared = !strncmp(space, "shared", 6);
    buf_add_str(text, PTX_HEAD ".reg .b32 %a<8>, %b<8>, %c<8>, %d<8>, %t<4>, %z; .reg .b64 %from, "
                               "%to, %in, %out, %g; .reg .pred %p;\n"
                               ".shared .align 128 .b8 s[16384];\n"
                               "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
                               "mov.u32 %t0, %tid.x; mov.u32 %z, s; shl.b32 %t0, %t0, 2;\n"
                               "L: cvt.u64.u32 %g, %t0; add.u64 %g, %g, %in;\n"
                               "ld.global.u32 %t1, [%g]; add.u32 %t2, %z, %t0;\n"
                               "st.shared.u32 [%t2], %t1; add.u32 %t0, %t0, 128;\n"
                               "setp.lt.u32 %p, %t0, 16384; @%p bra L; bar.sync 0;\n");
    buf_printf(text, "mov.u64 %%from, %s; ", shared || !*space ? "s" : "%in");
    if (!*space)
        buf_add_str(text, "cvta.shared.u64 %from, %from; ");
    buf_printf(text, "mov.u64 %%to, %%from; add.u64 %%to, %%to, 12288;\n");
    if (!strcmp(space, "global"))
        buf_add_str(text, "mov.u64 %to, %out;\n");
}

static void add_end(struct buf *text, const char *space)
{
    if (strcmp(space, "global") != 0)
        buf_add_str(text, "bar.sync 0; mov.u32 %t0, %tid.x; shl.b32 %t0, %t0, 2;\n"
                          "M: cvt.u64.u32 %g, %t0; add.u64 %g, %g, %out; add.u32 %t2, %z, %t0;\n"
                          "ld.shared.u32 %t1, [%t2+12288]; st.global.u32 [%g], %t1;\n"
                          "add.u32 %t0, %t0, 128; setp.lt.u32 %p, %t0, 4096; @%p bra M;\n");
    buf_add_str(text, "ret;\n}\n");
}

static void wmma_text(struct buf *text, const struct wmma *x, const unsigned strides[4])
{
    const struct shape *s = &x->s;
    char opcode[128];
    unsigned na = regs_of(s->a, s->m * s->k, true), nb = regs_of(s->b, s->k * s->n, true);
    unsigned nc = regs_of(s->c, s->m * s->n, false), nd = regs_of(s->d, s->m * s->n, false);
    add_start(text, x->space);
    add_wmma_load(text, x, "a", x->alayout, s->a, na, 0, strides[0]);
    add_wmma_load(text, x, "b", x->blayout, s->b, nb, PLACE, strides[1]);
    add_wmma_load(text, x, "c", x->clayout, s->c, nc, 2 * PLACE, strides[2]);
    snprintf(opcode, sizeof opcode, "wmma.mma.sync.aligned.%s.%s.%s.%s%s", x->alayout, x->blayout,
             x->shape, s->d, x->tail);
    add_line(text, opcode);
    add_regs(text, "d", nd);
    buf_add_str(text, ", ");
    add_regs(text, "a", na);
    buf_add_str(text, ", ");
    add_regs(text, "b", nb);
    buf_add_str(text, ", ");
    add_regs(text, "c", nc);
    snprintf(opcode, sizeof opcode, "wmma.store.d.sync.aligned.%s.%s.%s%s%s", x->dlayout, x->shape,
             x->space, *x->space ? "." : "", s->d);
    buf_add_str(text, ";\n");
    add_line(text, opcode);
    buf_add_str(text, "[%to], ");
    add_regs(text, "d", nd);
    buf_printf(text, ", %u;\n", strides[3]);
    add_end(text, x->space);
}

/* Fills a matrix in memory and keeps its elements row by row. */
static void fill(uint8_t *memory, double *elements, const char *type, unsigned rows,
                 unsigned columns, bool by_columns, unsigned stride, bool fractions, bool is_sum)
{
    for (unsigned i = 0; i < rows; i++) {
        for (unsigned j = 0; j < columns; j++) {
            unsigned at = by_columns ? j * stride + i : i * stride + j;
            put_element(memory, at, type, value_for(type, fractions, is_sum));
            elements[i * columns + j] = get_element(memory, at, type);
        }
    }
}

static bool is_col(const char *layout)
{
    return !strcmp(layout, "col");
}

static void run_wmma(const struct wmma *x, bool fractions, enum ptx_isa isa, unsigned padding)
{
    const struct shape *s = &x->s;
    static uint8_t in[4 * PLACE], out[OUT_BYTES];
    static double a[1024], b[1024], c[1024], d[1024];
    unsigned lengths[4] = {is_col(x->alayout) ? s->m : s->k, is_col(x->blayout) ? s->k : s->n,
                           is_col(x->clayout) ? s->m : s->n, is_col(x->dlayout) ? s->m : s->n};
    const char *types[4] = {s->a, s->b, s->c, s->d};
    unsigned strides[4];
    for (unsigned i = 0; i < 4; i++)
        strides[i] = (lengths[i] * size_of(types[i]) + 15) / 16 * 16 / size_of(types[i]) +
                     padding * 16 / size_of(types[i]);
    struct buf text = {0};
    wmma_text(&text, x, strides);
    if (isa == PTX_ISA_AVX512 || !padding)
        memset(in, 0, sizeof in);
    fill(in, a, s->a, s->m, s->k, is_col(x->alayout), strides[0], fractions, false);
    fill(in + PLACE, b, s->b, s->k, s->n, is_col(x->blayout), strides[1], fractions, false);
    fill(in + 2 * PLACE, c, s->c, s->m, s->n, is_col(x->clayout), strides[2], fractions, true);
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32,
                          .isa = isa,
                          .checks = true};
    if (!ptx_job_run(&job) || job.hazard_count)
        fail_msg("%s %s\n%s", job.message, job.hazard_count ? job.hazard_text : "", job.text);
    for (unsigned i = 0; i < s->m; i++)
        for (unsigned j = 0; j < s->n; j++)
            d[i * s->n + j] = get_element(
                out, is_col(x->dlayout) ? j * strides[3] + i : i * strides[3] + j, s->d);
    check_product(s, a, b, c, d, fractions, job.text);
    buf_free(&text);
}

static const char *const layouts[] = {"row", "col"};
static const char *const spaces[] = {"global", "shared", "shared::cta", ""};

static void wmma_all_ways(struct shape s, const char *tail)
{
    char shape[32];
    snprintf(shape, sizeof shape, "m%un%uk%u", s.m, s.n, s.k);
    for (unsigned i = 0; i < 16; i++) {
        struct wmma x = {.s = s,
                         .shape = shape,
                         .tail = tail,
                         .alayout = layouts[i & 1],
                         .blayout = layouts[i >> 1 & 1],
                         .clayout = layouts[i >> 2 & 1],
                         .dlayout = layouts[(i ^ i >> 1) & 1],
                         .space = spaces[i >> 2]};
        run_wmma(&x, i % 3 == 2, PTX_ISA_BASE + i % 3, i % 3);
    }
}

static void test_wmma(void **state)
{
    (void)state;
    static const unsigned shapes[][2] = {{16, 16}, {32, 8}, {8, 32}};
    static const char *const halves[] = {"f16", "f32"};
    for (unsigned i = 0; i < 3; i++) {
        unsigned m = shapes[i][0], n = shapes[i][1];
        for (unsigned t = 0; t < 4; t++) {
            char tail[8];
            snprintf(tail, sizeof tail, ".%s", halves[t & 1]);
            wmma_all_ways((struct shape){m, n, 16, "f16", "f16", halves[t & 1], halves[t >> 1]},
                          tail);
        }
        wmma_all_ways((struct shape){m, n, 16, "bf16", "bf16", "f32", "f32"}, ".bf16.bf16.f32");
        wmma_all_ways((struct shape){m, n, 16, "s8", "s8", "s32", "s32"}, ".s8.s8.s32");
        wmma_all_ways((struct shape){m, n, 16, "u8", "u8", "s32", "s32"}, ".u8.u8.s32.satfinite");
    }
    wmma_all_ways((struct shape){16, 16, 8, "tf32", "tf32", "f32", "f32"}, ".tf32.tf32.f32");
}

/* ---- mma.sync */

/* Row and column of element i of a fragment, as the ISA prints them. */
static void place_a(unsigned lane, unsigned i, unsigned bytes, unsigned *row, unsigned *column)
{
    unsigned g = lane >> 2, t = lane % 4;
    switch (bytes) {
    case 1:
        *row = i < 4 || (i >= 8 && i < 12) ? g : g + 8;
        *column = t * 4 + (i & 3) + (i >= 8 ? 16 : 0);
        break;
    case 2:
        *row = i < 2 || (i >= 4 && i < 6) ? g : g + 8;
        *column = t * 2 + (i & 1) + (i >= 4 ? 8 : 0);
        break;
    case 4:
        *row = i % 2 == 0 ? g : g + 8;
        *column = i < 2 ? t : t + 4;
        break;
    default:
        *row = g;
        *column = t;
        break;
    }
}

static void place_b(unsigned lane, unsigned i, unsigned bytes, unsigned *row, unsigned *column)
{
    unsigned g = lane >> 2, t = lane % 4;
    *column = g;
    *row = bytes == 1   ? t * 4 + (i & 3) + (i >= 4 ? 16 : 0)
           : bytes == 2 ? t * 2 + (i & 1) + (i >= 2 ? 8 : 0)
           : i == 0     ? t
                        : t + 4;
}

static void place_c(unsigned lane, unsigned i, unsigned *row, unsigned *column)
{
    *row = i < 2 ? lane >> 2 : (lane >> 2) + 8;
    *column = lane % 4 * 2 + (i & 1);
}

static unsigned held(const char *type, unsigned elements)
{
    (void)type;
    return elements / 32;
}

static void mma_text(struct buf *text, const char *opcode, const struct shape *s)
{
    bool wide = !strcmp(s->a, "f64");
    unsigned size = wide ? 8 : 4;
    unsigned n[4] = {regs_of(s->a, s->m * s->k, false), regs_of(s->b, s->k * s->n, false),
                     regs_of(s->c, s->m * s->n, false), regs_of(s->d, s->m * s->n, false)};
    static const char names[] = "abcd";
    buf_add_str(text, PTX_HEAD ".reg .b64 %in, %out, %l; .reg .b32 %t;\n");
    buf_printf(text, ".reg .b%u %%a<8>, %%b<8>, %%c<8>, %%d<8>;\n", 8 * size);
    buf_add_str(text, "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
                      "mov.u32 %t, %tid.x;\n");
    buf_printf(text,
               "mul.wide.u32 %%l, %%t, %u; add.u64 %%in, %%in, %%l; "
               "add.u64 %%out, %%out, %%l;\n",
               size);
    for (unsigned f = 0, at = 0; f < 3; f++)
        for (unsigned i = 0; i < n[f]; i++, at++)
            buf_printf(text, "ld.global.b%u %%%c%u, [%%in+%u];\n", 8 * size, names[f], i,
                       at * 32 * size);
    add_line(text, opcode);
    add_regs(text, "d", n[3]);
    for (unsigned f = 0; f < 3; f++) {
        char name[2] = {names[f], '\0'};
        buf_add_str(text, ", ");
        add_regs(text, name, n[f]);
    }
    buf_add_str(text, ";\n");
    for (unsigned i = 0; i < n[3]; i++)
        buf_printf(text, "st.global.b%u [%%out+%u], %%d%u;\n", 8 * size, i * 32 * size, i);
    buf_add_str(text, "ret;\n}\n");
}

/* Byte offset of element i of a lane in an array of registers, 32 lanes each. */
static unsigned register_at(unsigned lane, unsigned i, const char *type)
{
    unsigned size = size_of(type), reg = size == 8 ? 8 : 4, each = reg / size;
    return (i / each * 32 + lane) * reg + i % each * size;
}

static void run_mma(const char *opcode, const struct shape *s, bool fractions, enum ptx_isa isa)
{
    static uint8_t in[8192], out[4096];
    static double a[1024], b[1024], c[1024], d[1024];
    unsigned reg = !strcmp(s->a, "f64") ? 256 : 128, row, column;
    uint8_t *from_b = in + regs_of(s->a, s->m * s->k, false) * reg;
    uint8_t *from_c = from_b + regs_of(s->b, s->k * s->n, false) * reg;
    struct buf text = {0};
    mma_text(&text, opcode, s);
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < held(s->a, s->m * s->k); i++) {
            uint8_t *at = in + register_at(lane, i, s->a);
            put_element(at, 0, s->a, value_for(s->a, fractions, false));
            place_a(lane, i, size_of(s->a), &row, &column);
            a[row * s->k + column] = get_element(at, 0, s->a);
        }
        for (unsigned i = 0; i < held(s->b, s->k * s->n); i++) {
            uint8_t *at = from_b + register_at(lane, i, s->b);
            put_element(at, 0, s->b, value_for(s->b, fractions, false));
            place_b(lane, i, size_of(s->b), &row, &column);
            b[row * s->n + column] = get_element(at, 0, s->b);
        }
        for (unsigned i = 0; i < held(s->c, s->m * s->n); i++) {
            uint8_t *at = from_c + register_at(lane, i, s->c);
            put_element(at, 0, s->c, value_for(s->c, fractions, true));
            place_c(lane, i, &row, &column);
            c[row * s->n + column] = get_element(at, 0, s->c);
        }
    }
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32,
                          .isa = isa,
                          .checks = true};
    if (!ptx_job_run(&job))
        fail_msg("%s\n%s", job.message, job.text);
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < held(s->d, s->m * s->n); i++) {
            place_c(lane, i, &row, &column);
            d[row * s->n + column] = get_element(out + register_at(lane, i, s->d), 0, s->d);
        }
    }
    check_product(s, a, b, c, d, fractions, opcode);
    buf_free(&text);
}

static void test_mma(void **state)
{
    (void)state;
    static const struct shape rows[] = {
        {16, 8, 8, "f16", "f16", "f16", "f16"},    {16, 8, 8, "f16", "f16", "f32", "f32"},
        {16, 8, 16, "f16", "f16", "f16", "f16"},   {16, 8, 16, "f16", "f16", "f32", "f32"},
        {16, 8, 8, "bf16", "bf16", "f32", "f32"},  {16, 8, 16, "bf16", "bf16", "f32", "f32"},
        {16, 8, 4, "tf32", "tf32", "f32", "f32"},  {16, 8, 8, "tf32", "tf32", "f32", "f32"},
        {8, 8, 16, "s8", "s8", "s32", "s32"},      {8, 8, 16, "u8", "s8", "s32", "s32"},
        {16, 8, 16, "s8", "u8", "s32", "s32"},     {16, 8, 16, "u8", "u8", "s32", "s32"},
        {16, 8, 32, "s8", "s8", "s32", "s32"},     {16, 8, 32, "u8", "s8", "s32", "s32"},
        {16, 8, 32, "u8", "u8", "s32", "s32"},     {8, 8, 4, "f64", "f64", "f64", "f64"},
        {16, 8, 32, "e4m3", "e4m3", "f32", "f32"}, {16, 8, 32, "e5m2", "e4m3", "f32", "f32"},
        {16, 8, 32, "e4m3", "e5m2", "f16", "f16"}, {16, 8, 16, "e5m2", "e5m2", "f32", "f32"},
        {16, 8, 16, "e4m3", "e4m3", "f16", "f16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct shape *s = &rows[i];
        char opcode[128];
        snprintf(opcode, sizeof opcode, "mma.sync.aligned.m%un%uk%u.row.col%s.%s.%s.%s.%s", s->m,
                 s->n, s->k, i % 2 && !strcmp(s->d, "s32") ? ".satfinite" : "", s->d, s->a, s->b,
                 s->c);
        for (unsigned j = 0; j < 6; j++)
            run_mma(opcode, s, j & 1, PTX_ISA_BASE + j / 2);
    }
}

/* ---- mma.sync of less than a byte: nibbles and single bits */

struct packed {
    unsigned m, k, bits;
    const char *a, *b, *operation; /* types; of bits, how they are combined */
};

static unsigned packed_at(const uint32_t *reg, unsigned lane, unsigned i, unsigned bits)
{
    unsigned each = 32 / bits;
    return reg[i / each * 32 + lane] >> i % each * bits & ((1u << bits) - 1);
}

/* Where the ISA says that element i of a lane stands. `each`: elements of a register. */
static unsigned packed_row_a(unsigned lane, unsigned i, unsigned each)
{
    bool upper = i < each || (i >= 2 * each && i < 3 * each);
    return lane / 4 + (upper ? 0 : 8);
}

static unsigned packed_column_a(unsigned lane, unsigned i, unsigned each)
{
    return lane % 4 * each + (i & (each - 1)) + (i >= 2 * each ? 4 * each : 0);
}

static unsigned packed_row_b(unsigned lane, unsigned i, unsigned each)
{
    return lane % 4 * each + (i & (each - 1)) + (i >= each ? 4 * each : 0);
}

static int packed_value(unsigned x, const char *type)
{
    return type[0] == 's' && x > 7 ? (int)x - 16 : (int)x;
}

static void check_packed(const struct packed *s, const uint32_t *in, const uint32_t *out,
                         const char *name)
{
    static int a[16][256], b[256][8];
    const unsigned each = 32 / s->bits, na = s->m * s->k / each / 32, nb = 8 * s->k / each / 32;
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < na * each; i++)
            a[packed_row_a(lane, i, each)][packed_column_a(lane, i, each)] =
                packed_value(packed_at(in, lane, i, s->bits), s->a);
        for (unsigned i = 0; i < nb * each; i++)
            b[packed_row_b(lane, i, each)][lane / 4] =
                packed_value(packed_at(in + na * 32, lane, i, s->bits), s->b);
    }
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < s->m / 4; i++) {
            unsigned row, column;
            place_c(lane, i, &row, &column);
            int64_t sum = (int32_t)in[(na + nb + i) * 32 + lane];
            for (unsigned q = 0; q < s->k; q++)
                sum += !s->operation            ? a[row][q] * b[q][column]
                       : s->operation[0] == 'a' ? (a[row][q] & b[q][column])
                                                : (a[row][q] ^ b[q][column]);
            if (out[i * 32 + lane] != (uint32_t)sum)
                fail_msg("%s: element %u,%u is %d instead of %d", name, row, column,
                         (int)out[i * 32 + lane], (int)sum);
        }
}

static void run_packed(const struct packed *s, enum ptx_isa isa)
{
    static uint32_t in[2048], out[1024];
    const unsigned regs[4] = {s->m * s->k * s->bits / 1024, 8 * s->k * s->bits / 1024, s->m / 4,
                              s->m / 4};
    static const char names[] = "abcd";
    struct buf text = {0};
    char opcode[128];
    snprintf(opcode, sizeof opcode, "mma.sync.aligned.m%un8k%u.row.col.s32.%s.%s.s32%s%s", s->m,
             s->k, s->a, s->b, s->operation ? "." : "", s->operation ? s->operation : "");
    buf_add_str(&text,
                PTX_HEAD ".reg .b64 %in, %out, %l; .reg .b32 %t, %a<8>, %b<8>, %c<8>, %d<8>;\n"
                         "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n"
                         "mul.wide.u32 %l, %t, 4; add.u64 %in, %in, %l; add.u64 %out, %out, %l;\n");
    for (unsigned f = 0, at = 0; f < 3; f++)
        for (unsigned i = 0; i < regs[f]; i++, at++)
            buf_printf(&text, "ld.global.b32 %%%c%u, [%%in+%u];\n", names[f], i, at * 128);
    add_line(&text, opcode);
    add_regs(&text, "d", regs[3]);
    for (unsigned f = 0; f < 3; f++) {
        char name[2] = {names[f], '\0'};
        buf_add_str(&text, ", ");
        add_regs(&text, name, regs[f]);
    }
    buf_add_str(&text, ";\n");
    for (unsigned i = 0; i < regs[3]; i++)
        buf_printf(&text, "st.global.b32 [%%out+%u], %%d%u;\n", i * 128, i);
    buf_add_str(&text, "ret;\n}\n");
    for (unsigned i = 0; i < sizeof in / sizeof *in; i++)
        in[i] = noise() << 16 ^ noise();
    for (unsigned i = regs[0] + regs[1]; i < regs[0] + regs[1] + regs[2]; i++)
        for (unsigned lane = 0; lane < 32; lane++)
            in[i * 32 + lane] = noise() % 2000001 - 1000000;
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32,
                          .isa = isa,
                          .checks = true};
    if (!ptx_job_run(&job))
        fail_msg("%s\n%s", job.message, job.text);
    check_packed(s, in, out, opcode);
    buf_free(&text);
}

static void test_packed_mma(void **state)
{
    (void)state;
    static const struct packed rows[] = {
        {8, 32, 4, "s4", "s4", NULL},         {8, 32, 4, "u4", "s4", NULL},
        {16, 32, 4, "s4", "u4", NULL},        {16, 32, 4, "u4", "u4", NULL},
        {16, 64, 4, "s4", "s4", NULL},        {16, 64, 4, "u4", "s4", NULL},
        {8, 128, 1, "b1", "b1", "xor.popc"},  {8, 128, 1, "b1", "b1", "and.popc"},
        {16, 128, 1, "b1", "b1", "xor.popc"}, {16, 128, 1, "b1", "b1", "and.popc"},
        {16, 256, 1, "b1", "b1", "xor.popc"}, {16, 256, 1, "b1", "b1", "and.popc"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned j = 0; j < 6; j++)
            run_packed(&rows[i], PTX_ISA_BASE + j / 2);
}

/* wmma in double precision has 64-bit registers, so it goes by mma's text: its fragments are told
 * by products alone. */
static void test_wmma_f64(void **state)
{
    (void)state;
    static const char *const text =
        ".reg .b64 %in, %out; .reg .b64 %a<2>, %b<2>, %c<2>, %d<2>; .reg .b32 %s;\n"
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %s, 4;\n"
        "wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%a0}, [%in], %s;\n"
        "wmma.load.b.sync.aligned.col.m8n8k4.f64 {%b0}, [%in+256], %s;\n"
        "wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%c0,%c1}, [%in+512];\n"
        "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%d0,%d1}, {%a0}, {%b0}, "
        "{%c0,%c1};\n"
        "wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%out], {%d0,%d1}, 8;\nret;\n}\n";
    cover("wmma.load.a.sync.aligned.row.m8n8k4.global.f64");
    cover("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn");
    cover("wmma.store.d.sync.aligned.row.m8n8k4.global.f64");
    struct shape s = {8, 8, 4, "f64", "f64", "f64", "f64"};
    double in[128], out[64], b[32];
    for (unsigned i = 0; i < 128; i++)
        in[i] = value_for("f64", true, false);
    for (unsigned q = 0; q < 4; q++)
        for (unsigned j = 0; j < 8; j++)
            b[q * 8 + j] = in[32 + j * 4 + q];
    struct buf whole = {0};
    buf_printf(&whole, "%s%s", PTX_HEAD, text);
    struct ptx_job job = {.text = buf_str(&whole),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32,
                          .checks = true};
    if (!ptx_job_run(&job) || job.hazard_count)
        fail_msg("%s %s", job.message, job.hazard_count ? job.hazard_text : "");
    check_product(&s, in, b, in + 64, out, true, "wmma f64");
    buf_free(&whole);
}

/* ---- ldmatrix, stmatrix, movmatrix */

static const char rows_head[] =
    PTX_HEAD ".reg .b64 %in, %out, %l; .reg .b32 %r<4>, %t, %a, %s, %g;\n"
             ".shared .align 128 .b8 s[1024];\n"
             "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n"
             "mul.wide.u32 %l, %t, 4; add.u64 %in, %in, %l; add.u64 %out, %out, %l;\n"
             "mov.u32 %s, s; shl.b32 %a, %t, 2; add.u32 %a, %a, %s;\n";

/* Lane's row, in an order that is not the natural one. */
static unsigned row_of(unsigned lane)
{
    return (lane * 11 + 5) % 32;
}

static void test_rows(void **state)
{
    (void)state;
    static uint16_t in[512], out[512];
    for (unsigned way = 0; way < 24; way++) {
        unsigned log = way % 3, regs = 1u << log;
        bool trans = way / 3 & 1, stores = way / 6 & 1;
        const char *space = way < 12 ? ".shared" : "";
        char opcode[96];
        struct buf text = {0};
        snprintf(opcode, sizeof opcode, "%smatrix.sync.aligned.m8n8.x%u%s%s.b16",
                 stores ? "st" : "ld", regs, trans ? ".trans" : "", space);
        buf_add_str(&text, rows_head);
        for (unsigned i = 0; i < 4; i++)
            buf_printf(&text, "ld.global.u32 %%r%u, [%%in+%u]; st.shared.u32 [%%a+%u], %%r%u;\n", i,
                       128 * i, 128 * i, i);
        buf_add_str(&text, "bar.sync 0; mad.lo.u32 %g, %t, 11, 5; and.b32 %g, %g, 31;\n"
                           "mad.lo.u32 %g, %g, 16, %s; cvt.u64.u32 %l, %g;\n");
        if (!*space)
            buf_add_str(&text, "cvta.shared.u64 %l, %l;\n");
        add_line(&text, opcode);
        if (stores)
            buf_add_str(&text, "[%l], ");
        add_regs(&text, "r", regs);
        buf_add_str(&text, stores ? ";\nbar.sync 0;\n" : ", [%l];\n");
        for (unsigned i = 0; i < 4; i++) {
            if (stores)
                buf_printf(&text, "ld.shared.u32 %%r%u, [%%a+%u];\n", i, 128 * i);
            buf_printf(&text, "st.global.u32 [%%out+%u], %%r%u;\n", 128 * i, i);
        }
        buf_add_str(&text, "ret;\n}\n");
        for (unsigned i = 0; i < 256; i++)
            in[i] = (uint16_t)noise();
        struct ptx_job job = {.text = buf_str(&text),
                              .in = in,
                              .out = out,
                              .in_bytes = 512,
                              .out_bytes = 512,
                              .threads = 32,
                              .checks = true,
                              .isa = PTX_ISA_BASE + way % 3};
        if (!ptx_job_run(&job) || job.hazard_count)
            fail_msg("%s %s\n%s", job.message, job.hazard_count ? job.hazard_text : "", job.text);
        uint16_t want[256];
        memcpy(want, in, sizeof want);
        for (unsigned r = 0; r < regs; r++) {
            for (unsigned lane = 0; lane < 32; lane++) {
                for (unsigned e = 0; e < 2; e++) {
                    unsigned i = lane / 4, j = 2 * (lane % 4) + e;
                    unsigned at = row_of(8 * r + (trans ? j : i)) * 8 + (trans ? i : j);
                    unsigned reg = r * 64 + lane * 2 + e;
                    if (stores)
                        want[at] = in[reg];
                    else
                        want[reg] = in[at];
                }
            }
        }
        assert_memory_equal(out, want, 512);
        buf_free(&text);
    }
}

static void test_movmatrix(void **state)
{
    (void)state;
    uint16_t in[64], out[64];
    struct buf text = {0};
    buf_add_str(&text, rows_head);
    buf_add_str(&text, "ld.global.u32 %r0, [%in];\n");
    add_line(&text, "movmatrix.sync.aligned.m8n8.trans.b16");
    buf_add_str(&text, "%r1, %r0; st.global.u32 [%out], %r1; ret;\n}\n");
    for (unsigned i = 0; i < 64; i++)
        in[i] = (uint16_t)noise();
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = 128,
                          .out_bytes = 128,
                          .threads = 32};
    if (!ptx_job_run(&job))
        fail_msg("%s", job.message);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(out[i], in[i % 8 * 8 + i / 8]);
    buf_free(&text);
}

/* ---- rules */

static void run_rule(const char *body, unsigned threads, bool wanted, enum ptx_hazard_kind kind,
                     const char *words)
{
    static uint8_t in[8192], out[8192];
    struct buf text = {0};
    buf_printf(&text,
               "%s.reg .b64 %%in, %%out; .reg .b32 %%a<8>, %%t, %%s; .reg .pred %%p;\n"
               "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; mov.u32 %%t, %%tid.x;\n"
               "%s\nret;\n}\n",
               PTX_HEAD, body);
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = threads,
                          .checks = true};
    if (!ptx_job_run(&job))
        fail_msg("%s\n%s", job.message, job.text);
    if (!wanted && job.hazard_count)
        fail_msg("%s\n%s", job.hazard_text, job.text);
    if (wanted && (!job.hazard_count || job.hazard != kind || !strstr(job.hazard_text, words)))
        fail_msg("reported: %s\n%s", job.hazard_count ? job.hazard_text : "nothing", job.text);
    buf_free(&text);
}

#define LOAD_A                                                                                     \
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, "
#define LOAD_C                                                                                     \
    "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, "
#define STORE_D "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%out], "
#define REGS    "{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}"

static void test_rules(void **state)
{
    (void)state;
    if (ptx_job_on_gpu())
        skip();
    enum ptx_hazard_kind matrix = PTX_HAZARD_MATRIX, absent = PTX_HAZARD_ABSENT_LANE;
    run_rule(LOAD_A "[%in], 16;", 32, false, matrix, "");
    run_rule(LOAD_A "[%in], 24;", 32, false, matrix, "");
    run_rule(LOAD_A "[%in], 32;", 32, false, matrix, "");
    run_rule(LOAD_A "[%in], 17;", 32, true, matrix, "34 bytes apart");
    run_rule(LOAD_A "[%in], 20;", 32, true, matrix, "40 bytes apart");
    run_rule(LOAD_C "[%in], 18;", 32, true, matrix, "72 bytes apart");
    run_rule(LOAD_C "[%in], 20;", 32, false, matrix, "");
    run_rule(LOAD_C "[%in], 0;", 32, false, matrix, "");
    run_rule(LOAD_A "[%in+16], 16;", 32, true, matrix, "multiple of 32 bytes");
    run_rule(LOAD_A "[%in], 8;", 32, true, matrix, "overlap");
    run_rule(LOAD_C "[%in], 16; " STORE_D REGS ", 16;", 32, false, matrix, "");
    run_rule(LOAD_C "[%in], 16; " STORE_D REGS ", 8;", 32, true, matrix, "overlap");
    run_rule("shl.b32 %s, %t, 4; " LOAD_A "[%in], %s;", 32, true, matrix, "name the same one");
    run_rule(LOAD_A "[%in], 16;", 20, true, absent, "names lanes");
    run_rule("setp.lt.u32 %p, %t, 16; @%p bra L; " LOAD_A "[%in], 16; L:", 32, true, absent,
             "names lanes");
    run_rule(".shared .align 128 .b8 s[1024]; mul.lo.u32 %s, %t, 0; st.shared.u32 [s], %s;\n"
             "mov.u32 %s, s; st.shared.v4.u32 [s], {%t,%t,%t,%t}; bar.warp.sync 0xffffffff;\n",
             1, false, matrix, "");
}

static void test_row_rule(void **state)
{
    (void)state;
    if (ptx_job_on_gpu())
        skip();
    run_rule(".shared .align 128 .b8 s[1024]; shl.b32 %s, %t, 4; mov.u32 %a1, s;\n"
             "add.u32 %s, %s, %a1; st.shared.v4.u32 [%s], {%t,%t,%t,%t};\n"
             "st.shared.v4.u32 [%s+512], {%t,%t,%t,%t}; bar.sync 0;\n"
             "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0,%a1,%a2,%a3}, [%s];",
             32, false, PTX_HAZARD_MATRIX, "");
    run_rule(".shared .align 128 .b8 s[1024]; shl.b32 %s, %t, 4; mov.u32 %a1, s;\n"
             "add.u32 %s, %s, %a1; st.shared.v4.u32 [%s], {%t,%t,%t,%t};\n"
             "st.shared.v4.u32 [%s+512], {%t,%t,%t,%t}; bar.sync 0;\n"
             "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0,%a1,%a2,%a3}, [%s+8];",
             32, true, PTX_HAZARD_MATRIX, "multiple of 16");
}

/* Without a conversion the low bits of tf32 operands are cut; cvt.rna rounds them. */
static void test_tf32_cuts(void **state)
{
    (void)state;
    uint32_t in[32 * 10] = {0}, out[128];
    struct shape s = {16, 8, 4, "tf32", "tf32", "f32", "f32"};
    struct buf text = {0};
    mma_text(&text, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", &s);
    in[0] = f32_bits(1 + 0x1p-11f); /* a(0,0) */
    in[64] = f32_bits(1);           /* b(0,0) */
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32};
    assert_true(ptx_job_run(&job));
    assert_int_equal(out[0], f32_bits(1));
    in[0] = f32_to_tf32(in[0], true);
    assert_true(ptx_job_run(&job));
    assert_int_equal(out[0], f32_bits(1 + 0x1p-10f));
    buf_free(&text);
}

static void test_every_form_ran(void **state)
{
    (void)state;
    unsigned missing = 0;
    for (size_t i = 0; i < form_count; i++) {
        bool mine = forms[i].rule == RULE_MATRIX || forms[i].handler == H_movmatrix;
        if (mine && !covered[i]) {
            print_error("no test for %s\n", forms[i].pattern);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wmma),      cmocka_unit_test(test_wmma_f64),
        cmocka_unit_test(test_mma),       cmocka_unit_test(test_packed_mma),
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_movmatrix),
        cmocka_unit_test(test_rules),     cmocka_unit_test(test_row_rule),
        cmocka_unit_test(test_tf32_cuts), cmocka_unit_test(test_every_form_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
