/* Running PTX: control flow, calls, memory spaces, warp operations, printf, and that the same
 * launch gives the same result in every vector width, order and number of threads. */
#include "ptx_launch.h"

/* ---- control flow */

static void lanes_part_and_meet(void **state)
{
    (void)state;
    struct fixture f;
    /* Collatz steps, with an early exit for multiples of 5 and a nested branch. */
    run_done(&f,
             HEAD BEGIN "rem.u32 %r2, %r1, 5; setp.eq.s32 %p1, %r2, 0; @%p1 exit;\n"
                        "add.s32 %r3, %r1, 1; mov.u32 %r4, 0;\n"
                        "LOOP: setp.eq.s32 %p2, %r3, 1; @%p2 bra DONE;\n"
                        "and.b32 %r5, %r3, 1; setp.eq.s32 %p3, %r5, 0; @%p3 bra EVEN;\n"
                        "mad.lo.s32 %r3, %r3, 3, 1; bra NEXT;\n"
                        "EVEN: shr.u32 %r3, %r3, 1;\n"
                        "NEXT: add.s32 %r4, %r4, 1; bra LOOP;\n"
                        "DONE: activemask.b32 %r6; st.global.u32 [%rd3], %r4; st.global.u32 "
                        "[%rd3+1024], %r6;\n" END,
             70);
    for (uint32_t t = 0; t < 70; t++) {
        uint32_t n = t + 1, steps = 0;
        while (n != 1) {
            n = n & 1 ? 3 * n + 1 : n / 2;
            steps++;
        }
        assert_int_equal(f.out[t], t % 5 ? steps : 0);
        uint32_t together = 0;
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t other = (t & ~31u) + lane;
            together |= (uint32_t)(other % 5 != 0 && other < 70) << lane;
        }
        if (t % 5)
            assert_int_equal(f.out[256 + t], together);
    }
    close_fixture(&f);
}

static void branch_tables_scatter(void **state)
{
    (void)state;
    struct fixture f;
    run_done(&f,
             HEAD BEGIN "rem.u32 %r2, %r1, 3; T: .branchtargets A, B, C; brx.idx %r2, T;\n"
                        "A: mov.u32 %r3, 100; bra D; B: mov.u32 %r3, 200; bra D;\n"
                        "C: mov.u32 %r3, 300; D: activemask.b32 %r4; setp.eq.u32 %p1, %r4, -1;\n"
                        "selp.u32 %r4, 1, 0, %p1; add.s32 %r3, %r3, %r4;\n"
                        "st.global.u32 [%rd3], %r3;\n" END,
             64);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(f.out[t], (t % 3 + 1) * 100 + 1);
    close_fixture(&f);
}

/* A lock inside one warp: needs every lane to make progress on its own. */
static void lanes_wait_for_each_other(void **state)
{
    (void)state;
    struct fixture f;
    run_done(&f,
             HEAD BEGIN
             "TRY: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.s32 %p1, %r2, 0; @%p1 bra TRY;\n"
             "fence.acq_rel.gpu; ld.relaxed.gpu.global.u32 %r3, [%rd1+4]; add.s32 %r3, %r3, 1;\n"
             "st.relaxed.gpu.global.u32 [%rd1+4], %r3; fence.acq_rel.gpu;\n"
             "atom.global.exch.b32 %r4, [%rd1], 0;\n" END,
             40);
    assert_int_equal(f.out[1], 40);
    close_fixture(&f);
}

static void functions_call_and_return(void **state)
{
    (void)state;
    static const char text[] =
        HEAD ".func (.param .b32 r) fact(.param .b32 n) { .reg .b32 %r<9>; .reg .pred %p;\n"
             "ld.param.b32 %r1, [n]; mov.u32 %r2, 1; setp.lt.u32 %p, %r1, 2; @%p bra OUT;\n"
             "add.s32 %r3, %r1, -1; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3;\n"
             "call (b), fact, (a); ld.param.b32 %r2, [b]; } mul.lo.s32 %r2, %r2, %r1;\n"
             "OUT: st.param.b32 [r], %r2; ret; }\n"
             ".func (.param .b32 r) twice(.param .b32 n) { .reg .b32 %r<9>;\n"
             "ld.param.b32 %r1, [n]; add.s32 %r1, %r1, %r1; st.param.b32 [r], %r1; ret; }\n"
             ".global .u64 table[2] = {fact, twice};\n" BEGIN
             "and.b32 %r2, %r1, 7; and.b32 %r9, %r1, 1; mul.wide.u32 %rd4, %r9, 8;\n"
             "mov.u64 %rd5, table; add.s64 %rd5, %rd5, %rd4; ld.global.u64 %rd6, [%rd5];\n"
             "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; P: .callprototype (.param "
             ".b32 _) _ (.param .b32 _);\n"
             "call (b), %rd6, (a), P; ld.param.b32 %r3, [b]; } st.global.u32 [%rd3], %r3;\n" END;
    struct fixture f;
    run_done(&f, text, 50);
    static const uint32_t factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040};
    for (uint32_t t = 0; t < 50; t++)
        assert_int_equal(f.out[t], t & 1 ? 2 * (t & 7) : factorial[t & 7]);
    close_fixture(&f);
}

static void recursion_has_an_end(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f, HEAD ".func deep() { .local .b8 big[1024]; call deep; ret; }\n" BEGIN
                          ".loc 1 9 1\n call deep;\n" END);
    run(&f);
    assert_int_equal(f.result.status, PTX_FAULT);
    assert_non_null(strstr(f.result.message, "stack overflow: deep"));
    close_fixture(&f);
}

/* ---- memory */

static void spaces_are_reached(void **state)
{
    (void)state;
    static const char text[] = HEAD
        ".const .align 4 .b32 table[4] = {10, 20, 30, 40};\n.global .align 8 .b64 where = "
        "generic(table);\n" BEGIN
        ".local .align 16 .b8 depot[32]; .shared .align 4 .b8 s[256]; .reg .b64 %SP;\n"
        "and.b32 %r2, %r1, 3; shl.b32 %r3, %r2, 2; cvt.u64.u32 %rd4, %r3;\n"
        "mov.u64 %rd5, table; add.s64 %rd5, %rd5, %rd4; ld.const.u32 %r4, [%rd5];\n"
        "ld.global.u64 %rd6, [where]; add.s64 %rd6, %rd6, %rd4; ld.u32 %r5, [%rd6];\n"
        "mov.u64 %rd7, depot; cvta.local.u64 %SP, %rd7; st.local.v2.u32 [depot+8], {%r4, %r5};\n"
        "add.s64 %rd8, %SP, 8; ld.v2.u32 {%r6, %r7}, [%rd8];\n"
        "mov.u32 %r8, s; mad.lo.s32 %r8, %r1, 4, %r8; cvt.u64.u32 %rd9, %r8; cvta.shared.u64 %rd9, "
        "%rd9;\n"
        "add.s32 %r9, %r6, %r7; st.u32 [%rd9], %r9; ld.shared.u32 %r10, [%r8];\n"
        "st.global.u32 [%rd3], %r10; isspacep.shared %p1, %rd9; isspacep.local %p2, %SP;\n"
        "isspacep.global %p3, %rd3; and.pred %p1, %p1, %p2; and.pred %p1, %p1, %p3;\n"
        "selp.u32 %r11, 1, 0, %p1; st.global.u32 [%rd3+1024], %r11;\n"
        "cvta.to.shared.u64 %rd10, %rd9; cvt.u32.u64 %r12, %rd10; sub.s32 %r12, %r12, %r8;\n"
        "st.global.u32 [%rd3+2048], %r12;\n" END;
    struct fixture f;
    run_done(&f, text, 64);
    for (uint32_t t = 0; t < 64; t++) {
        assert_int_equal(f.out[t], 2 * 10 * ((t & 3) + 1));
        assert_int_equal(f.out[256 + t], 1);
        assert_int_equal(f.out[512 + t], 0);
    }
    close_fixture(&f);
}

static void narrow_and_wide_data(void **state)
{
    (void)state;
    static const char text[] = HEAD BEGIN
        "mul.wide.u32 %rd4, %r1, 16; add.s64 %rd4, %rd2, %rd4;\n"
        "ld.global.s8 %r2, [%rd4+3]; ld.global.u8 %rs1, [%rd4+2]; ld.global.s16 %rs2, [%rd4+2];\n"
        "ld.global.u16 %r3, [%rd4+2]; ld.global.s32 %rd5, [%rd4]; ld.global.v2.u64 {%rd6, %rd7}, "
        "[%rd4];\n"
        "ld.global.v4.u8 {%rs3, %rs4, %rs5, %rs6}, [%rd4]; mov.b32 %r4, {%rs3, %rs6};\n"
        "mov.b64 {%r5, %r6}, %rd6; mov.b64 %rd8, {%r6, %r5}; mov.b32 {%rs7, _}, %r5;\n"
        "mul.wide.u32 %rd9, %r1, 64; add.s64 %rd9, %rd1, %rd9; cvt.u32.u16 %r7, %rs1; cvt.s32.s16 "
        "%r8, %rs2;\n"
        "st.global.v4.u32 [%rd9], {%r2, %r7, %r8, %r3}; st.global.v2.b64 [%rd9+16], {%rd5, %rd8};\n"
        "st.global.u16 [%rd9+32], %rs7; st.global.u8 [%rd9+34], %r2; st.global.u32 [%rd9+36], "
        "%r4;\n"
        "st.global.u64 [%rd9+40], %rd7;\n" END;
    struct fixture f;
    open_fixture(&f, text);
    f.launch.block[0] = 40;
    for (uint32_t i = 0; i < WORDS; i++)
        f.in[i] = i * 2654435761u;
    run(&f);
    assert_int_equal(f.result.status, PTX_DONE);
    for (uint32_t t = 0; t < 40; t++) {
        const uint32_t *out = f.out + 16 * t;
        uint32_t a = f.in[4 * t], b = f.in[4 * t + 1];
        assert_int_equal(out[0], (uint32_t)(int32_t)(int8_t)(a >> 24));
        assert_int_equal(out[1], a >> 16 & 0xff);
        assert_int_equal(out[2], (uint32_t)(int32_t)(int16_t)(a >> 16));
        assert_int_equal(out[3], a >> 16);
        assert_int_equal(out[4], a);
        assert_int_equal(out[5], (uint32_t)((int32_t)a >> 31));
        assert_int_equal(out[6], b);
        assert_int_equal(out[7], a);
        assert_int_equal(out[8], (a & 0xffff) | (a >> 24) << 16);
        assert_int_equal(out[9], (a & 0xff) | (a >> 24) << 16);
        assert_int_equal(out[10], f.in[4 * t + 2]);
        assert_int_equal(out[11], f.in[4 * t + 3]);
    }
    close_fixture(&f);
}

static void atomics_return_the_old_value(void **state)
{
    (void)state;
    static const char text[] = HEAD BEGIN
        ".shared .align 8 .b8 s[16]; setp.ne.u32 %p1, %r1, 0; @%p1 bra GO; st.shared.u32 [s], 0;\n"
        "GO: bar.sync 0; atom.shared.add.u32 %r2, [s], 2; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd4, "
        "%rd1, %rd4;\n"
        "st.global.u32 [%rd4+1024], 7; red.global.max.s32 [%rd1], %r1; atom.global.inc.u32 %r3, "
        "[%rd1+4], 9;\n"
        "neg.s32 %r4, %r1; atom.global.min.s32 %r5, [%rd1+8], %r4; red.global.or.b32 [%rd1+12], "
        "%r1;\n"
        "mov.f32 %f1, 0f3FC00000; red.global.add.f32 [%rd1+16], %f1; cvt.u64.u32 %rd5, %r1;\n"
        "atom.global.add.u64 %rd6, [%rd1+24], %rd5; cvta.shared.u64 %rd7, 0; add.u64 %rd7, %rd7, "
        "0;\n" END;
    struct fixture f;
    run_done(&f, text, 64);
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(f.out[256 + 2 * t], 7);
    assert_int_equal(f.out[0], 63);
    assert_int_equal(f.out[1], 64 % 10);
    assert_int_equal((int32_t)f.out[2], -63);
    assert_int_equal(f.out[3], 63);
    float sum;
    memcpy(&sum, &f.out[4], 4);
    assert_true(sum == 96.0f);
    assert_int_equal(f.out[6], 2016);
    close_fixture(&f);
}

/* ---- warp operations and barriers */

static void warps_exchange(void **state)
{
    (void)state;
    static const char text[] = HEAD BEGIN
        "shfl.sync.up.b32 %r2|%p1, %r1, 3, 0, -1; selp.u32 %r3, 1, 0, %p1;\n"
        "shfl.sync.bfly.b32 %r4, %r1, 5, 0x1f, -1; shfl.sync.idx.b32 %r5, %r1, 9, 0x181f, -1;\n"
        "setp.lt.u32 %p2, %r1, 40; vote.sync.ballot.b32 %r6, %p2, -1; vote.sync.all.pred %p3, "
        "!%p2, -1;\n"
        "selp.u32 %r7, 1, 0, %p3; shr.u32 %r8, %r1, 2; match.any.sync.b32 %r9, %r8, -1;\n"
        "redux.sync.add.s32 %r10, %r1, -1; bar.red.popc.u32 %r11, 0, %p2; bar.red.and.pred %p4, 0, "
        "!%p2;\n"
        "selp.u32 %r12, 1, 0, %p4; mul.wide.u32 %rd4, %r1, 64; add.s64 %rd4, %rd1, %rd4;\n"
        "st.global.v4.u32 [%rd4], {%r2, %r3, %r4, %r5}; st.global.v4.u32 [%rd4+16], {%r6, %r7, "
        "%r9, %r10};\n"
        "st.global.v2.u32 [%rd4+32], {%r11, %r12};\n" END;
    struct fixture f;
    run_done(&f, text, 64);
    for (uint32_t t = 0; t < 64; t++) {
        const uint32_t *out = f.out + 16 * t;
        uint32_t lane = t & 31, base = t & ~31u;
        assert_int_equal(out[0], lane >= 3 ? t - 3 : t);
        assert_int_equal(out[1], lane >= 3);
        assert_int_equal(out[2], base + (lane ^ 5));
        assert_int_equal(out[3], base + (lane & 24) + 1);
        assert_int_equal(out[4], base ? 0xff : 0xffffffff);
        assert_int_equal(out[5], 0);
        assert_int_equal(out[6], 0xfu << (lane & 28));
        assert_int_equal(out[7], base ? 1520 : 496);
        assert_int_equal(out[8], 40);
        assert_int_equal(out[9], 0);
    }
    close_fixture(&f);
}

static void absent_lanes_are_named(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(
        &f, HEAD BEGIN
        ".loc 1 4 2\n shfl.sync.down.b32 %r2, %r1, 16, 31, -1; st.global.u32 [%rd3], %r2;\n" END);
    f.launch.block[0] = 48; /* the second warp has 16 lanes */
    run(&f);
    assert_int_equal(f.result.status, PTX_DONE);
    assert_int_equal(f.result.hazard_count, 1);
    assert_int_equal(f.result.hazards[0].kind, PTX_HAZARD_ABSENT_LANE);
    assert_int_equal(f.module->lines[f.result.hazards[0].line].line, 4);
    close_fixture(&f);
}

/* Eight lanes with a mask of their own: the upper four read lanes that it does not name. What they
 * get is undefined, and said to be so; the lanes that nobody is named for wait for nobody. */
static void unnamed_lanes_give_something_undefined(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f, HEAD BEGIN
                 ".loc 1 4 2\n setp.ge.u32 %p1, %r1, 8; @%p1 bra L;\n"
                 "shfl.sync.down.b32 %r2, %r1, 4, 31, 255; st.global.u32 [%rd3], %r2;\nL:\n" END);
    f.launch.block[0] = 32;
    run(&f);
    assert_int_equal(f.result.status, PTX_DONE);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(f.out[i], i + 4);
    for (uint32_t i = 4; i < 8; i++)
        assert_true(f.out[i] > 1 << 24);
    assert_int_equal(f.result.hazard_count, 1);
    const struct ptx_hazard *h = &f.result.hazards[0];
    assert_true(h->if_used);
    assert_int_equal(h->thread.thread[0], 4);
    assert_int_equal(h->other.thread[0], 8);
    assert_non_null(strstr(h->text, "thread 8, which the mask 0x000000ff does not name"));
    close_fixture(&f);
}

/* ---- what a kernel prints */

static void printf_is_collected(void **state)
{
    (void)state;
    static const char text[] =
        HEAD ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
             ".global .align 1 .b8 fmt[32] = {37, 100, 58, 37, 115, 58, 37, 46, 49, 102, 58, 37, "
             "108, 108, 117, 37, 37, 10};\n"
             ".global .align 1 .b8 word[4] = {97, 98, 99};\n" BEGIN
             ".local .align 8 .b8 depot[32]; setp.gt.u32 %p1, %r1, 1; @%p1 bra OUT; mov.u32 %r9, "
             "%ctaid.x;\n"
             "mad.lo.s32 %r9, %r9, -10, %r1; st.local.u32 [depot], %r9; mov.u64 %rd4, word; "
             "st.local.u64 [depot+8], %rd4;\n"
             "mov.b64 %rd5, 0x4004000000000000; st.local.b64 [depot+16], %rd5; st.local.b64 "
             "[depot+24], 12345678901;\n"
             "mov.u64 %rd6, depot; cvta.local.u64 %rd6, %rd6; mov.u64 %rd7, fmt;\n"
             "{ .param .b64 p0; st.param.b64 [p0], %rd7; .param .b64 p1; st.param.b64 [p1], %rd6; "
             ".param .b32 q;\n"
             "call.uni (q), vprintf, (p0, p1); ld.param.b32 %r8, [q]; } st.global.u32 [%rd3], %r8; "
             "OUT:\n" END;
    struct fixture f;
    open_fixture(&f, text);
    f.launch.grid[0] = 3;
    f.launch.options.threads = 3;
    run(&f);
    assert_int_equal(f.result.status, PTX_DONE);
    assert_string_equal(
        buf_str(&f.result.output),
        "0:abc:2.5:12345678901%\n1:abc:2.5:12345678901%\n-10:abc:2.5:12345678901%\n"
        "-9:abc:2.5:12345678901%\n-20:abc:2.5:12345678901%\n-19:abc:2.5:12345678901%\n");
    assert_int_equal(f.out[0], 4);
    f.launch.options.output_cap = 30;
    run(&f);
    assert_int_equal(f.result.output.len, 30);
    assert_true(f.result.output.cut);
    close_fixture(&f);
}

/* ---- the same every time */

static void nothing_depends_on_the_machine(void **state)
{
    (void)state;
    static const char text[] = HEAD BEGIN
        ".shared .align 4 .b8 s[256]; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r3, %r2, 64, %r1;\n"
        "mul.wide.u32 %rd4, %r3, 4; add.s64 %rd5, %rd2, %rd4; add.s64 %rd6, %rd1, %rd4;\n"
        "ld.global.u32 %r4, [%rd5]; shl.b32 %r5, %r1, 2; st.shared.u32 [%r5], %r4; bar.sync 0;\n"
        "xor.b32 %r6, %r5, 252; ld.shared.u32 %r7, [%r6]; cvt.rn.f32.u32 %f1, %r7; sqrt.rn.f32 "
        "%f2, %f1;\n"
        "fma.rn.f32 %f3, %f2, %f1, 0fBF800000; lg2.approx.f32 %f4, %f3; mov.b32 %r8, %f4;\n"
        "L: add.s32 %r8, %r8, %r4; add.s32 %r4, %r4, -7; setp.gt.s32 %p1, %r4, 0; @%p1 bra L;\n"
        "st.global.u32 [%rd6], %r8; red.global.add.u32 [%rd1+16380], %r7;\n" END;
    struct fixture f;
    open_fixture(&f, text);
    f.launch.grid[0] = 32;
    uint32_t *first = NULL;
    uint64_t instructions = 0;
    for (int variant = 0; variant < 12; variant++) {
        for (uint32_t i = 0; i < WORDS; i++) {
            f.in[i] = i % 97 * 3;
            f.out[i] = 0;
        }
        f.launch.options.isa = (enum ptx_isa)(variant % 4);
        f.launch.options.threads = variant / 4 == 1 ? 4 : 1;
        f.launch.options.order = variant / 4 == 2   ? PTX_RANDOM
                                 : variant / 4 == 1 ? PTX_REVERSE
                                                    : PTX_FORWARD;
        f.launch.options.seed = (uint64_t)variant;
        run(&f);
        assert_int_equal(f.result.status, PTX_DONE);
        if (!first) {
            first = words();
            memcpy(first, f.out, WORDS * 4);
            instructions = f.result.counters.thread_instructions;
        }
        assert_memory_equal(f.out, first, WORDS * 4);
        assert_int_equal(f.result.counters.thread_instructions, instructions);
    }
    free(first);
    close_fixture(&f);
}

/* Of several faults in several threads, the one in the lowest block is told. */
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_part_and_meet),
        cmocka_unit_test(branch_tables_scatter),
        cmocka_unit_test(lanes_wait_for_each_other),
        cmocka_unit_test(functions_call_and_return),
        cmocka_unit_test(recursion_has_an_end),
        cmocka_unit_test(spaces_are_reached),
        cmocka_unit_test(narrow_and_wide_data),
        cmocka_unit_test(atomics_return_the_old_value),
        cmocka_unit_test(warps_exchange),
        cmocka_unit_test(absent_lanes_are_named),
        cmocka_unit_test(unnamed_lanes_give_something_undefined),
        cmocka_unit_test(printf_is_collected),
        cmocka_unit_test(nothing_depends_on_the_machine),
    };
    return cmocka_run_group_tests_name("ptx run", tests, NULL, NULL);
}
