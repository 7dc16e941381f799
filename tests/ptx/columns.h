/* Inputs for a kernel of kernel.h, and the comparison of its results with the oracle.
 *
 * Arrays are the caller's: `in` has KERNEL_SOURCES columns of `count` slots, `out` twice
 * KERNEL_RESULTS.
 *
 * It runs nothing: simulator and GPU are both filled and judged by it. */
#ifndef STRIDE_TESTS_PTX_COLUMNS_H
#define STRIDE_TESTS_PTX_COLUMNS_H

#include "tests/ptx/kernel.h"
#include "tests/ptx/oracle_eval.h"
#include "tests/ptx/values.h"

/* The type that source j of an opcode has, as a letter and bits. */
static inline struct kind columns_kind(const struct form_match *m, const struct kernel_shape *s,
                                       unsigned j)
{
    struct kind last = kind_of(m, m->word_count - 1);
    if (!s->sources[j])
        return (struct kind){'p', 1, false};
    if (s->is_float[j])
        return (struct kind){'f', s->sources[j] * 8, false};
    if (m->form->kind == PTX_KIND_HALF || word_eq(m, 0, "cvt"))
        return last.bits ? last : (struct kind){'u', s->sources[j] * 8, false};
    return (struct kind){'u', s->sources[j] * 8, false};
}

static inline uint64_t columns_value(struct kind k, uint64_t *state)
{
    uint64_t x;
    switch (k.letter) {
    case 'p':
        return values_noise(state) >> 40 & 1;
    case 'f':
        return k.bits == 64 ? values_f64(state) : values_f32(state);
    case 'h':
    case 'B':
        x = values_half(state, k.letter == 'B');
        return k.pair ? x | values_half(state, k.letter == 'B') << 16 : x;
    default:
        return values_int(state, k.bits < 16 ? 16 : k.bits);
    }
}

/* Operands that the ISA restricts: positions and lengths of bit fields to 0..255 (the 64-bit forms
 * are programs that shift by all 32 bits), the first bit of fns to 0..31. */
static inline uint64_t columns_allowed(const struct form_match *m, unsigned j)
{
    if (word_eq(m, 0, "bfe"))
        return j ? 255 : UINT64_MAX;
    if (word_eq(m, 0, "bfi"))
        return j > 1 ? 255 : UINT64_MAX;
    return word_eq(m, 0, "fns") && j == 1 ? 31 : UINT64_MAX;
}

/* Forms that ptxas (CUDA 13.0) compiles wrongly under a guard, so that a GPU changes the result
 * although the guard is false: testp loses its guard altogether; set with a float or 16-bit result
 * or source merges old and new first and then converts both (0x5a5a5a5a to float, or to its lower
 * half). The ISA leaves the register as it was, and so does the simulator. */
static inline bool columns_guard_lost(const struct form_match *m)
{
    struct kind to = kind_of(m, m->word_count - 2), from = kind_of(m, m->word_count - 1);
    bool converts = strchr("fhB", to.letter) || (from.bits == 16 && !from.pair);
    return word_eq(m, 0, "testp") || (word_eq(m, 0, "set") && !to.pair && converts);
}

static inline void columns_fill(uint64_t *in, unsigned count, const struct form_match *m,
                                const struct kernel_shape *s, uint64_t seed)
{
    for (unsigned e = 0; e < count; e++) {
        for (unsigned j = 0; j < s->source_count; j++) {
            struct kind k = columns_kind(m, s, j);
            uint64_t x = columns_value(k, &seed);
            bool same = j && s->sources[j] == s->sources[0] && s->sources[j];
            if (same && e % 16 == 3) /* equal, opposite, and neighbouring operands */
                x = in[e];
            if (same && e % 16 == 7)
                x = in[e] ^ 1ull << (s->sources[j] * 8 - 1);
            if (same && e % 16 == 11)
                x = in[e] ^ 1;
            x &= columns_allowed(m, j);
            in[j * count + e] = s->has_immediate && j + 1 == s->source_count ? s->immediate : x;
        }
    }
}

/* Checks what element e gave, on a GPU or not; false with a sentence. */
static inline bool columns_judge(const uint64_t *in, const uint64_t *out, unsigned count,
                                 unsigned e, const struct form_match *m,
                                 const struct kernel_shape *s, bool on_gpu, char *why, size_t size)
{
    uint64_t x[KERNEL_SOURCES] = {0};
    struct want want[3], high;
    for (unsigned j = 0; j < s->source_count; j++)
        x[j] = in[j * count + e];
    if (!oracle(m, s->negated, x, want, &high)) {
        snprintf(why, size, "no oracle");
        return false;
    }
    bool twice = !s->carry_in && !s->carry_out;
    for (unsigned k = 0; k < s->result_count * (twice ? 2 : 1); k++) {
        unsigned result = k % s->result_count;
        uint64_t got = out[k * count + e];
        bool guarded_off = k >= s->result_count && e % 2 == 0;
        uint64_t marker = s->results[result] == 0   ? 1
                          : s->results[result] == 2 ? KERNEL_MARKER & 0xffff
                                                    : KERNEL_MARKER;
        bool ok = guarded_off ? got == marker || (on_gpu && columns_guard_lost(m))
                  : high.kind != WANT_ANY && !k
                      ? want_met(&want[0], got & 0xffff) && want_met(&high, got >> 16)
                  : high.kind != WANT_ANY ? got == out[e]
                                          : want_met(&want[result], got);
        if (!ok) {
            snprintf(why, size,
                     "result %u: %016llx for %016llx %016llx %016llx %016llx; wanted %016llx or %g "
                     "+- %g (kind %d)%s",
                     k, (unsigned long long)got, (unsigned long long)x[0], (unsigned long long)x[1],
                     (unsigned long long)x[2], (unsigned long long)x[3],
                     (unsigned long long)want[result].bits, want[result].value, want[result].slack,
                     want[result].kind, guarded_off ? " untouched" : "");
            return false;
        }
    }
    return true;
}

/* Rows of ops.def that kernel.h makes kernels of. */
static inline bool columns_form(const struct form *form)
{
    switch (form->kind) {
    case PTX_KIND_INTEGER:
    case PTX_KIND_FP32:
    case PTX_KIND_FP64:
    case PTX_KIND_HALF:
    case PTX_KIND_CONVERT:
        return true;
    case PTX_KIND_MOVE:
        return form->rule == RULE_MOV || form->rule == RULE_MOV_PRED;
    default:
        return false;
    }
}

#endif
