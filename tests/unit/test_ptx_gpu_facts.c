/* What a GPU gave where the PTX ISA leaves room or is easily misread: NaN payloads and signs, edges
 * of bit fields, zero as a normal number. The GPU: H200 (sm_90), CUDA 13.0, seen by
 * tests/ptx/ptx_diff.c --gpu --forms and tests/gpu/check_differential. One row for each fact; the
 * simulator has to give the same. */
#include "tests/ptx/kernel.h"
#include "tests/ptx/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { COUNT = 32 };

struct fact {
    const char *opcode;
    uint64_t in[3], result;
};

#define NAN64(low) (0x7ff8000000000000ull | (low))
#define MINUS64    (1ull << 63)

static const struct fact facts[] = {
    /* Single precision and halves: negation and size of NaN are the canonical NaN. */
    {"neg.f32", {0x7f800001}, 0x7fffffff},
    {"neg.f32", {0xff881849}, 0x7fffffff},
    {"neg.ftz.f32", {0xff881849}, 0x7fffffff},
    {"abs.f32", {0x7f800001}, 0x7fffffff},
    {"abs.ftz.f32", {0xff881849}, 0x7fffffff},
    {"neg.f16", {0x7c01}, 0x7fff},
    {"neg.ftz.f16", {0x7e00}, 0x7fff},
    {"abs.f16", {0x7c01}, 0x7fff},
    {"neg.f16x2", {0x80017c01}, 0x00017fff},
    {"neg.ftz.f16x2", {0x80017c01}, 0x00007fff},
    {"abs.f16x2", {0x1ce67e00}, 0x1ce67fff},
    {"neg.bf16", {0x7f81}, 0x7fff},
    {"abs.bf16", {0x7fc0}, 0x7fff},
    {"neg.bf16x2", {0x1ce67fc0}, 0x9ce67fff},
    {"abs.bf16x2", {0x80017f81}, 0x00017fff},
    /* Double precision: the sign of NaN stays; of two NaNs the later operand's comes out. */
    {"neg.f64", {NAN64(0)}, NAN64(0)},
    {"sub.f64", {NAN64(0), MINUS64 | NAN64(0)}, MINUS64 | NAN64(0)},
    {"sub.rz.f64", {NAN64(0), MINUS64 | NAN64(0)}, MINUS64 | NAN64(0)},
    {"mul.f64", {NAN64(0), MINUS64 | NAN64(0)}, MINUS64 | NAN64(0)},
    {"mul.rp.f64", {NAN64(0), MINUS64 | NAN64(0)}, MINUS64 | NAN64(0)},
    {"mad.rn.f64", {NAN64(0), NAN64(1), NAN64(1)}, NAN64(1)},
    {"fma.rm.f64", {NAN64(0), NAN64(1), NAN64(1)}, NAN64(1)},
    {"fma.rn.f64", {MINUS64 | NAN64(5), NAN64(7), MINUS64 | NAN64(5)}, NAN64(7)},
    {"add.f64", {~0ull, 0xfffdb22fd293056a}, 0xfffdb22fd293056a},
    {"min.f64", {~0ull, 0x7ff00000d293056a}, 0x7ff80000d293056a},
    {"rcp.approx.ftz.f64", {NAN64(0)}, 0x7fffffff00000000},
    {"rsqrt.approx.ftz.f64", {0xc06a800000000000}, 0x7fffffff00000000},
    {"rsqrt.approx.ftz.f64", {0xb0b872c3a6e4c3a0}, 0x7fffffff00000000},
    /* Conversions of NaN: what is a copy keeps its bits, double precision its sign and payload. */
    {"cvt.f32.f32", {0xffc00000}, 0xffc00000},
    {"cvt.f32.f32", {0x7ffb4822}, 0x7ffb4822},
    {"cvt.f32.bf16", {0xffc0}, 0xffc00000},
    {"cvt.ftz.f64.f32", {0xffc00000}, 0x7fffffffe0000000},
    {"cvt.rn.f32.f64", {NAN64(0)}, 0x7fc00000},
    {"cvt.rp.ftz.f32.f64", {NAN64(0)}, 0x7fc00000},
    {"cvt.rn.bf16.f64", {NAN64(0)}, 0x7fc0},
    {"cvt.rp.bf16.f64", {NAN64(0)}, 0x7fc0},
    {"cvt.rn.f16.f64", {0xffffffffe0000000}, 0xffff},
    {"cvt.rna.tf32.f32", {0x7fc00000}, 0x7fc00000},
    {"cvt.rna.tf32.f32", {0xffffffff}, 0xffffe000},
    {"cvt.rn.tf32.f32", {0x7fc00000}, 0x7fffe000},
    {"cvt.rn.relu.tf32.f32", {0x7fc00000}, 0x7fffe000},
    {"cvt.rz.tf32.f32", {0x7fc00000}, 0x7fffe000},
    {"cvt.rz.relu.tf32.f32", {0x7fc00000}, 0x7fffe000},
    /* .ftz does not touch what becomes a half; it does touch exponentials of bfloat16. */
    {"cvt.rm.ftz.f16.f32", {0x80000001}, 0x8001},
    {"cvt.rp.ftz.f16.f32", {0x00000001}, 0x0001},
    {"cvt.rp.ftz.sat.f16.f32", {0x00000001}, 0x0001},
    {"ex2.approx.ftz.bf16", {0xc2ff}, 0x0000},
    /* Zero is a normal number. */
    {"testp.normal.f32", {0x80000000}, 1},
};

static void test_facts(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t n = 0; n < sizeof facts / sizeof *facts; n++) {
        const struct fact *f = &facts[n];
        uint64_t in[KERNEL_SOURCES * COUNT] = {0}, out[2 * KERNEL_RESULTS * COUNT] = {0};
        for (unsigned j = 0; j < 3; j++)
            for (unsigned e = 0; e < COUNT; e++)
                in[j * COUNT + e] = f->in[j];
        for (int isa = PTX_ISA_BASE; isa <= PTX_ISA_AVX512; isa++) {
            struct form_match m;
            struct kernel_shape s = {0};
            struct buf text = {0};
            assert_true(form_find(&m, f->opcode) && kernel_shape(&s, &m));
            kernel_text(&text, "sm_90", f->opcode, &s, COUNT);
            struct ptx_job job = {.text = buf_str(&text),
                                  .in = in,
                                  .out = out,
                                  .in_bytes = sizeof in,
                                  .out_bytes = sizeof out,
                                  .threads = COUNT,
                                  .isa = (enum ptx_isa)isa};
            bool ran = ptx_job_run(&job);
            if (!ran || out[COUNT - 1] != f->result) {
                print_error("%s of %llx %llx (build %d): %llx, the GPU gave %llx %s\n", f->opcode,
                            (unsigned long long)f->in[0], (unsigned long long)f->in[1], isa,
                            (unsigned long long)out[COUNT - 1], (unsigned long long)f->result,
                            ran ? "" : job.message);
                wrong++;
            }
            buf_free(&text);
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_facts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
