/* ldmatrix, stmatrix and movmatrix, and what matrix instructions demand of addresses and lanes. */
#include "ptx_matrix.h"

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

static void test_every_form_ran(void **state)
{
    (void)state;
    check_every_form("ldmatrix.");
    check_every_form("stmatrix.");
    check_every_form("movmatrix.");
}

/* A family that is in no test program's list would never be missed. */
static void test_every_family_is_known(void **state)
{
    (void)state;
    static const char *const families[] = {"wmma.", "mma.", /* test_ptx_wmma, test_ptx_mma */
                                           "ldmatrix.", "stmatrix.", "movmatrix."};
    for (size_t i = 0; i < form_count; i++) {
        bool known = !is_matrix_form(&forms[i]);
        for (size_t k = 0; k < sizeof families / sizeof *families; k++)
            known = known || !strncmp(forms[i].pattern, families[k], strlen(families[k]));
        if (!known)
            fail_msg("no test for %s", forms[i].pattern);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),           cmocka_unit_test(test_movmatrix),
        cmocka_unit_test(test_rules),          cmocka_unit_test(test_row_rule),
        cmocka_unit_test(test_every_form_ran), cmocka_unit_test(test_every_family_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
