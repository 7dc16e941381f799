/* What the tests of matrix instructions share: elements of each type, products by their definition,
 * and which forms of the instruction set were run.
 *
 * Each test program has its own `covered`; its last test calls check_every_form. With
 * STRIDE_PTX_ON=gpu the kernels run on the GPU instead: a test of the test.
 *
 * Nothing here runs an instruction. */
#ifndef STRIDE_TESTS_PTX_MATRIX_H
#define STRIDE_TESTS_PTX_MATRIX_H

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

static inline uint32_t noise(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static inline void cover(const char *opcode)
{
    struct form_match match;
    if (!form_find(&match, opcode))
        fail_msg("no form for %s", opcode);
    covered[match.form - forms] = true;
}

/* ---- elements */

static inline unsigned size_of(const char *type)
{
    return strstr("s8 u8 e4m3 e5m2", type) ? 1
           : strstr("f16 bf16", type)      ? 2
           : !strcmp(type, "f64")          ? 8
                                           : 4;
}

/* An 8-bit float by its definition: sign, exponent, fraction. NaN and infinity give NaN. */
static inline double fp8_value(uint8_t x, const char *type)
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

static inline uint8_t nearest_fp8(double x, const char *type)
{
    uint8_t best = 0;
    for (unsigned i = 0; i < 256; i++)
        if (fabs(fp8_value((uint8_t)i, type) - x) < fabs(fp8_value(best, type) - x))
            best = (uint8_t)i;
    return best;
}

static inline void put_element(void *array, unsigned at, const char *type, double x)
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
static inline double get_element(const void *array, unsigned at, const char *type)
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
static inline double value_for(const char *type, bool fractions, bool is_sum)
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

static inline void check_product(const struct shape *s, const double *a, const double *b,
                                 const double *c, const double *d, bool fractions, const char *name)
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

static inline void add_regs(struct buf *out, const char *name, unsigned count)
{
    buf_add_str(out, "{");
    for (unsigned i = 0; i < count; i++)
        buf_printf(out, "%s%%%s%u", i ? "," : "", name, i);
    buf_add_str(out, "}");
}

static inline unsigned regs_of(const char *type, unsigned elements, bool operand)
{
    if (!strcmp(type, "f16") && operand)
        return 8;
    return elements * size_of(type) / (!strcmp(type, "f64") ? 256 : 128);
}

static inline void add_line(struct buf *out, const char *opcode)
{
    cover(opcode);
    buf_printf(out, "%s ", opcode);
}

static inline bool is_matrix_form(const struct form *form)
{
    return form->rule == RULE_MATRIX || form->handler == H_movmatrix;
}

/* Fails when a form whose pattern begins with `family` ("wmma.") was not run. */
static inline void check_every_form(const char *family)
{
    unsigned missing = 0, ours = 0;
    for (size_t i = 0; i < form_count; i++) {
        if (!is_matrix_form(&forms[i]) || strncmp(forms[i].pattern, family, strlen(family)) != 0)
            continue;
        ours++;
        if (!covered[i]) {
            print_error("no test for %s\n", forms[i].pattern);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
    assert_true(ours > 0);
}

#endif
