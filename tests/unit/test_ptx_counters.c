/* Sectors, bank conflicts, divergence and operations, against counts done by hand. */
#include "ptx_fixture.h"

struct shape {
    const char *access; /* after %r5 = tid */
    uint64_t wavefronts, ideal;
};

static void bank_conflicts_are_counted_exactly(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {"mad.lo.u32 %r6, %r1, 4, %r3; st.shared.u32 [%r6], %r1;", 1, 1},
        {"mad.lo.u32 %r6, %r1, 8, %r3; st.shared.u32 [%r6], %r1;", 2, 1},
        {"mad.lo.u32 %r6, %r1, 16, %r3; st.shared.u32 [%r6], %r1;", 4, 1},
        {"mad.lo.u32 %r6, %r1, 128, %r3; st.shared.u32 [%r6], %r1;", 32, 1},
        {"mad.lo.u32 %r6, %r1, 124, %r3; st.shared.u32 [%r6], %r1;", 1, 1},
        {"and.b32 %r6, %r1, 16; mad.lo.u32 %r6, %r6, 4, %r3; st.shared.u32 [%r6], %r6;", 1, 1},
        {"and.b32 %r6, %r1, 16; mad.lo.u32 %r6, %r6, 8, %r3; st.shared.u32 [%r6], %r6;", 2, 1},
        {"mad.lo.u32 %r6, %r1, 8, %r3; st.shared.v2.u32 [%r6], {%r1, %r1};", 2, 2},
        {"mad.lo.u32 %r6, %r1, 16, %r3; st.shared.v4.u32 [%r6], {%r1, %r1, %r1, %r1};", 4, 4},
        {"mad.lo.u32 %r6, %r1, 64, %r3; st.shared.v4.u32 [%r6], {%r1, %r1, %r1, %r1};", 16, 4},
        {"mad.lo.u32 %r6, %r1, 2, %r3; cvt.u16.u32 %h1, %r1; st.shared.u16 [%r6], %h1;", 1, 1},
        {"setp.lt.u32 %p1, %r1, 8; mad.lo.u32 %r6, %r1, 128, %r3; @%p1 st.shared.u32 [%r6], %r1;",
         8, 1},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct ptx_fixture f;
        fixture_run(&f, shapes[i].access, 32);
        fixture_is_clean(&f);
        assert_int_equal(f.result.counters.shared_requests, 1);
        assert_int_equal(f.result.counters.shared_wavefronts, shapes[i].wavefronts);
        assert_int_equal(f.result.counters.shared_ideal_wavefronts, shapes[i].ideal);
        fixture_end(&f);
    }
}

/* Halves of a warp that read rows or single words are counted by formula; through an address of 64
 * bits they take the long way round. */
static void halves_are_counted_like_anything_else(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 160; i++) {
        struct ptx_counters counters[2];
        uint32_t step[2] = {i & 1 ? 4 : 0, i & 2 ? 4 : 0}, from = i / 4 * 13 % 97 * 4;
        for (int k = 0; k < 2; k++) {
            struct ptx_fixture f;
            struct buf body = {0};
            buf_printf(
                &body,
                "mov.u32 %%r20, 1;\nmov.u32 %%r21, %%r4;\nFILL: st.shared.u32 [%%r21], %%r20;\n"
                "add.u32 %%r21, %%r21, 128;\nadd.u32 %%r20, %%r20, 1;\n"
                "setp.lt.u32 %%p1, %%r20, 9;\n@%%p1 bra FILL;\nbar.sync 0;\n"
                "and.b32 %%r5, %%r1, 15;\nsetp.lt.u32 %%p1, %%r1, 16;\n"
                "selp.u32 %%r6, %u, %u, %%p1;\nselp.u32 %%r7, 160, %u, %%p1;\n"
                "mad.lo.u32 %%r6, %%r5, %%r6, %%r7;\nadd.u32 %%r6, %%r6, %%r3;\n"
                "cvt.u64.u32 %%rd9, %%r6;\nld.shared.u32 %%r9, [%s];\n"
                "st.global.u32 [%%rd5], %%r9;\n",
                step[0], step[1], from, k ? "%rd9" : "%r6");
            fixture_run(&f, buf_str(&body), 32);
            fixture_is_clean(&f);
            counters[k] = f.result.counters;
            for (uint32_t lane = 0; lane < 32; lane++) {
                uint32_t at = (lane < 16 ? 160 : from) + lane % 16 * step[lane / 16];
                assert_int_equal(f.out[lane], at / 128 + 1);
            }
            fixture_end(&f);
            buf_free(&body);
        }
        assert_int_equal(counters[0].shared_wavefronts, counters[1].shared_wavefronts);
        assert_int_equal(counters[0].shared_ideal_wavefronts, counters[1].shared_ideal_wavefronts);
    }
}

static void sectors_are_counted_exactly(void **state)
{
    (void)state;
    static const struct {
        const char *access;
        uint64_t sectors, bytes;
    } shapes[] = {
        {"ld.global.u32 %r6, [%rd4];", 4, 128},
        {"ld.global.u32 %r6, [%rd4+4];", 5, 128},
        {"ld.global.u32 %r6, [%rd1+64];", 1, 128},
        {"mad.wide.u32 %rd6, %r1, 32, %rd1; ld.global.u32 %r6, [%rd6];", 32, 128},
        {"mad.wide.u32 %rd6, %r1, 8, %rd1; ld.global.u32 %r6, [%rd6];", 8, 128},
        {"mad.wide.u32 %rd6, %r1, 16, %rd1; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd6];", 16,
         512},
        {"xor.b32 %r6, %r1, 5; mad.wide.u32 %rd6, %r6, 4, %rd1; ld.global.u32 %r6, [%rd6];", 4,
         128},
        {"setp.eq.u32 %p1, %r1, 9; @%p1 ld.global.u32 %r6, [%rd4];", 1, 4},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct ptx_fixture f;
        fixture_run(&f, shapes[i].access, 32);
        fixture_is_clean(&f);
        assert_int_equal(f.result.counters.global_load_requests, 1);
        assert_int_equal(f.result.counters.global_load_sectors, shapes[i].sectors);
        assert_int_equal(f.result.counters.global_load_bytes, shapes[i].bytes);
        fixture_end(&f);
    }
}

static void stores_and_loads_are_told_apart(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f, "ld.global.u32 %r6, [%rd4]; st.global.u32 [%rd5], %r6;", 64);
    assert_int_equal(f.result.counters.global_store_requests, 2);
    assert_int_equal(f.result.counters.global_store_sectors, 8);
    assert_int_equal(f.result.counters.global_store_bytes, 256);
    assert_int_equal(f.result.counters.global_load_sectors, 8);
    assert_int_equal(f.result.counters.by_kind[PTX_KIND_STORE], 64);
    fixture_end(&f);
}

static void operations_and_branches_are_counted(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                "mov.f32 %f1, 0f3F800000;\nfma.rn.f32 %f2, %f1, %f1, %f1;\n"
                "add.f32 %f3, %f2, %f1;\nneg.f32 %f4, %f3;\n"
                "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra L1;\nmul.f32 %f5, %f4, %f4;\nL1:\n"
                "setp.lt.u32 %p2, %r1, 64;\n@%p2 bra L2;\nmul.f32 %f5, %f4, %f4;\nL2:\n",
                32);
    assert_int_equal(f.result.counters.flops, 32 * (2 + 1) + 16);
    assert_int_equal(f.result.counters.branches, 2);
    assert_int_equal(f.result.counters.divergent_branches, 1);
    assert_int_equal(f.result.counters.blocks, 1);
    fixture_end(&f);
}

/* The last thing is a branch back or out: the lanes still meet in every round. */
static void lanes_meet_in_a_loop_that_ends_the_kernel(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                "mov.u32 %r20, 0;\nROUND: setp.eq.u32 %p1, %r1, 0;\n@!%p1 bra MEET;\n"
                "st.global.u32 [%rd5], %r20;\nMEET: add.u32 %r20, %r20, 1;\n"
                "setp.lt.u32 %p2, %r20, 8;\n@%p2 bra ROUND;\n",
                32);
    fixture_is_clean(&f);
    assert_int_equal(f.result.counters.divergent_branches, 8);
    fixture_end(&f);

    /* An early return before that loop: the lanes that stay part at %p3, meet at NEXT, and count as
     * one. */
    fixture_run(
        &f,
        "setp.lt.u32 %p1, %r1, 16;\n@!%p1 bra NEXT;\nsetp.eq.u32 %p3, %r1, 3;\n@%p3 bra OUT;\n"
        "NEXT: mov.u32 %r20, 0;\nROUND: setp.eq.u32 %p1, %r1, 0;\n@!%p1 bra MEET;\n"
        "st.global.u32 [%rd5], %r20;\nMEET: add.u32 %r20, %r20, 1;\n"
        "setp.lt.u32 %p2, %r20, 8;\n@%p2 bra ROUND;\nOUT:\n",
        32);
    fixture_is_clean(&f);
    assert_int_equal(f.result.counters.divergent_branches, 2 + 8);
    assert_in_range(f.result.counters.warp_instructions, 1, 80); /* 64; 106 in two groups */
    fixture_end(&f);
}

static void groups_in_flight_are_noted_at_each_wait(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                "mad.lo.u32 %r5, %r1, 16, %r3; mad.wide.u32 %rd6, %r1, 16, %rd1;\n"
                "cp.async.cg.shared.global [%r5], [%rd6], 16;\ncp.async.commit_group;\n"
                "cp.async.cg.shared.global [%r5+512], [%rd6+512], 16;\ncp.async.commit_group;\n"
                "cp.async.cg.shared.global [%r5+1024], [%rd6+1024], 16;\ncp.async.commit_group;\n"
                "cp.async.wait_group 2;\ncp.async.wait_group 1;\ncp.async.wait_group 0;\n",
                32);
    fixture_is_clean(&f);
    assert_int_equal(f.result.counters.waits, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(f.result.counters.groups_in_flight[i], 1);
    assert_int_equal(f.result.counters.async_bytes, 3 * 512);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bank_conflicts_are_counted_exactly),
        cmocka_unit_test(halves_are_counted_like_anything_else),
        cmocka_unit_test(sectors_are_counted_exactly),
        cmocka_unit_test(stores_and_loads_are_told_apart),
        cmocka_unit_test(operations_and_branches_are_counted),
        cmocka_unit_test(lanes_meet_in_a_loop_that_ends_the_kernel),
        cmocka_unit_test(groups_in_flight_are_noted_at_each_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
