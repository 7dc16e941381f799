/* Barriers and mbarriers: who passes when, with which result, and what is said when nobody can. */
#include "ptx_fixture.h"

static void bar_red_combines_the_block(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                "setp.lt.u32 %p1, %r1, 50;\nbar.red.popc.u32 %r6, 0, %p1;\n"
                "st.global.u32 [%rd5], %r6;\nbar.red.and.pred %p2, 0, %p1;\n"
                "bar.red.or.pred %p3, 0, %p1;\nbar.red.and.pred %p4, 0, !%p1;\n"
                "selp.u32 %r7, 1, 0, %p2;\nselp.u32 %r8, 2, 0, %p3;\nselp.u32 %r9, 4, 0, %p4;\n"
                "add.u32 %r7, %r7, %r8;\nadd.u32 %r7, %r7, %r9;\nst.global.u32 [%rd5+1024], %r7;\n",
                80);
    fixture_is_clean(&f);
    for (int i = 0; i < 80; i++) {
        assert_int_equal(f.out[i], 50);
        assert_int_equal(f.out[256 + i], 2);
    }
    fixture_end(&f);
}

static void named_barrier_orders_its_warps(void **state)
{
    (void)state;
    struct ptx_fixture f;
    const char *body = "st.shared.u32 [%r4], %r1;\nshr.u32 %r6, %r1, 6;\nadd.u32 %r6, %r6, 1;\n"
                       "bar.sync %r6, 64;\nxor.b32 %r7, %r2, 128;\nadd.u32 %r7, %r7, %r3;\n"
                       "ld.shared.u32 %r8, [%r7];\nst.global.u32 [%rd5], %r8;\n";
    fixture_run(&f, body, 128);
    fixture_is_clean(&f);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(f.out[i], i ^ 32);
    fixture_end(&f);
    /* across the pairs */
    fixture_run(&f,
                "st.shared.u32 [%r4], %r1;\nshr.u32 %r6, %r1, 6;\nadd.u32 %r6, %r6, 1;\n"
                "bar.sync %r6, 64;\nxor.b32 %r7, %r2, 256;\nadd.u32 %r7, %r7, %r3;\n"
                "ld.shared.u32 %r8, [%r7];\nst.global.u32 [%rd5], %r8;\n",
                128);
    assert_true(fixture_has(&f, PTX_HAZARD_RACE_READ_AFTER_WRITE));
    fixture_end(&f);
}

/* A barrier without a number means all threads of the block, and is told so. */
static void barriers_of_two_sizes_say_both(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                "and.b32 %r6, %r1, 32;\nsetp.ne.u32 %p1, %r6, 0;\n@%p1 bra L1;\n"
                "bar.sync 0, 64;\nbra.uni L2;\nL1: bar.sync 0;\nL2:\n",
                96);
    assert_true(fixture_has(&f, PTX_HAZARD_BARRIER_MISMATCH));
    assert_non_null(strstr(f.result.hazards[0].text, "(96 here, 64 at the other place)"));
    fixture_end(&f);
}

static void exited_threads_are_not_waited_for(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                "setp.ge.u32 %p1, %r1, 40;\n@%p1 exit;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\n"
                "ld.shared.u32 %r6, [%r4];\nst.global.u32 [%rd5], %r6;\n",
                96);
    fixture_is_clean(&f);
    assert_int_equal(f.out[39], 39);
    assert_int_equal(f.out[40], 0xeeeeeeee);
    fixture_end(&f);
}

static void barrier_in_a_branch_names_who_is_missing(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                "setp.lt.u32 %p1, %r1, 16;\n@!%p1 bra L1;\nbar.sync 0;\nL1:\n"
                "st.global.u32 [%rd5], %r1;\n",
                32);
    assert_int_equal(f.result.status, PTX_DONE);
    assert_int_equal(f.result.hazard_count, 1);
    const struct ptx_hazard *h = &f.result.hazards[0];
    assert_int_equal(h->kind, PTX_HAZARD_DIVERGENT_BARRIER);
    assert_int_equal(h->thread.thread[0], 0);
    assert_true(h->has_other);
    assert_int_equal(h->other.thread[0], 16);
    assert_non_null(strstr(h->text, "16 threads are missing"));
    assert_int_equal(f.out[31], 31);
    fixture_end(&f);
}

static void barrier_that_never_fills_is_a_deadlock(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f, "bar.sync 3, 128;\n", 64);
    assert_int_equal(f.result.status, PTX_DEADLOCK);
    assert_non_null(strstr(f.result.message, "barrier 3 waits for 128 threads and only 64"));
    assert_true(fixture_has(&f, PTX_HAZARD_BARRIER_MISMATCH));
    fixture_end(&f);
    fixture_run(&f, "mov.u32 %r6, 16;\nbar.sync %r6;\n", 32);
    assert_int_equal(f.result.status, PTX_FAULT);
    fixture_end(&f);
}

#define INIT(count)                                                                                \
    "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [%r3], " #count ";\nbar.sync 0;\n"

static void mbarrier_phases_follow_arrivals(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                INIT(64) "mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 0;\n"
                         "mbarrier.test_wait.parity.shared.b64 %p3, [%r3], 1;\nbar.sync 0;\n"
                         "mbarrier.arrive.shared.b64 %rd10, [%r3];\nL1:\n"
                         "mbarrier.try_wait.shared.b64 %p4, [%r3], %rd10;\n@!%p4 bra L1;\n"
                         "mbarrier.test_wait.parity.shared.b64 %p5, [%r3], 0;\n"
                         "selp.u32 %r6, 1, 0, %p2;\nselp.u32 %r7, 2, 0, %p3;\n"
                         "selp.u32 %r8, 4, 0, %p5;\nadd.u32 %r6, %r6, %r7;\n"
                         "add.u32 %r6, %r6, %r8;\nst.global.u32 [%rd5], %r6;\n",
                64);
    fixture_is_clean(&f);
    for (int i = 0; i < 64; i++)
        assert_int_equal(f.out[i], 6); /* phase 0 not over before, "phase -1" over, 0 over behind */
    fixture_end(&f);
}

static void mbarrier_publishes_what_came_before_the_arrival(void **state)
{
    (void)state;
    struct ptx_fixture f;
    const char *body =
        INIT(64) "st.shared.u32 [%r4+1024], %r1;\nmbarrier.arrive.shared.b64 %rd10, [%r3];\nL1:\n"
                 "mbarrier.try_wait.shared.b64 %p4, [%r3], %rd10;\n@!%p4 bra L1;\n"
                 "xor.b32 %r6, %r2, 252;\nadd.u32 %r6, %r6, %r3;\nld.shared.u32 %r7, [%r6+1024];\n"
                 "st.global.u32 [%rd5], %r7;\n";
    fixture_run(&f, body, 64);
    fixture_is_clean(&f);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(f.out[i], i ^ 63);
    fixture_end(&f);
    /* stored behind the arrival: not published */
    fixture_run(
        &f,
        INIT(64) "mbarrier.arrive.shared.b64 %rd10, [%r3];\nst.shared.u32 [%r4+1024], %r1;\n"
                 "L1:\nmbarrier.try_wait.shared.b64 %p4, [%r3], %rd10;\n@!%p4 bra L1;\n"
                 "xor.b32 %r6, %r2, 252;\nadd.u32 %r6, %r6, %r3;\n"
                 "ld.shared.u32 %r7, [%r6+1024];\nst.global.u32 [%rd5], %r7;\n",
        64);
    assert_true(fixture_has(&f, PTX_HAZARD_RACE_READ_AFTER_WRITE));
    fixture_end(&f);
}

static void mbarrier_counts_are_checked(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                INIT(65) "mbarrier.arrive.shared.b64 %rd10, [%r3];\nL1:\n"
                         "mbarrier.try_wait.shared.b64 %p4, [%r3], %rd10;\n@!%p4 bra L1;\n",
                64);
    assert_int_equal(f.result.status, PTX_DEADLOCK);
    assert_non_null(strstr(f.result.message, "1 more arrivals"));
    fixture_end(&f);
    fixture_run(&f, INIT(10) "mov.u32 %r6, 11;\nmbarrier.arrive.shared.b64 %rd10, [%r3], %r6;\n",
                1);
    assert_true(fixture_has(&f, PTX_HAZARD_MBARRIER));
    fixture_end(&f);
    fixture_run(&f, "mbarrier.arrive.shared.b64 %rd10, [%r3];\n", 32);
    assert_true(fixture_has(&f, PTX_HAZARD_MBARRIER));
    fixture_end(&f);
}

static void bulk_copies_count_bytes(void **state)
{
    (void)state;
    struct ptx_fixture f;
    const char *body =
        INIT(1) "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd10, [%r3], 256;\n"
                "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                "[%r3+128], [%rd1], 256, [%r3];\nL1:\n"
                "mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 0;\n@!%p4 bra L1;\n"
                "ld.shared.u32 %r7, [%r4+128];\nst.global.u32 [%rd5], %r7;\n";
    fixture_run(&f, body, 64);
    fixture_is_clean(&f);
    assert_memory_equal(f.out, f.in, 256);
    fixture_end(&f);
    fixture_run(&f,
                INIT(1) "@%p1 mbarrier.arrive.expect_tx.shared.b64 %rd10, [%r3], 512;\n"
                        "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                        "[%r3+128], [%rd1], 256, [%r3];\nL1:\n"
                        "mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 0;\n@!%p4 bra L1;\n",
                64);
    assert_int_equal(f.result.status, PTX_DEADLOCK);
    assert_non_null(strstr(f.result.message, "256 more bytes"));
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bar_red_combines_the_block),
        cmocka_unit_test(named_barrier_orders_its_warps),
        cmocka_unit_test(barriers_of_two_sizes_say_both),
        cmocka_unit_test(exited_threads_are_not_waited_for),
        cmocka_unit_test(barrier_in_a_branch_names_who_is_missing),
        cmocka_unit_test(barrier_that_never_fills_is_a_deadlock),
        cmocka_unit_test(mbarrier_phases_follow_arrivals),
        cmocka_unit_test(mbarrier_publishes_what_came_before_the_arrival),
        cmocka_unit_test(mbarrier_counts_are_checked),
        cmocka_unit_test(bulk_copies_count_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
