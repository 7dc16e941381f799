/* Asynchronous copies: which bytes land, and when. */
#include "ptx_fixture.h"

#include "harness/base/msg.h"

#define ROW                                                                                        \
    "mad.lo.u32 %r5, %r1, 16, %r3;\nmad.wide.u32 %rd6, %r1, 16, %rd1;\n"                           \
    "mad.wide.u32 %rd7, %r1, 16, %rd2;\n"
#define COPY(at) "cp.async.cg.shared.global [%r5+" #at "], [%rd6+" #at "], 16;\n"
#define OUT(at)                                                                                    \
    "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r5+" #at "];\n"                                  \
    "st.global.v4.u32 [%rd7+" #at "], {%r10, %r11, %r12, %r13};\n"

static void bytes_land_when_their_group_is_waited_for(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(
        &f,
        ROW COPY(0) "cp.async.commit_group;\n" COPY(
            512) "cp.async.commit_group;\ncp.async.wait_group 1;\n" OUT(0) "cp.async.wait_group "
                                                                           "0;\n" OUT(512),
        32);
    fixture_is_clean(&f);
    assert_memory_equal(f.out, f.in, 1024);
    fixture_end(&f);
}

static void newer_group_is_still_in_flight(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(
        &f,
        ROW COPY(0) "cp.async.commit_group;\n" COPY(
            512) "cp.async.commit_group;\ncp.async.wait_group 1;\n" OUT(512) "cp.async.wait_all;\n",
        32);
    assert_true(fixture_has(&f, PTX_HAZARD_IN_FLIGHT));
    assert_int_equal(f.result.hazard_count, 1);
    assert_int_equal(f.result.hazards[0].count, 32 * 4);
    assert_memory_not_equal(f.out + 128, f.in + 128, 512);
    fixture_end(&f);
}

static void wait_all_takes_what_nobody_committed(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f, ROW COPY(0) "cp.async.wait_all;\n" OUT(0), 32);
    fixture_is_clean(&f);
    assert_memory_equal(f.out, f.in, 512);
    fixture_end(&f);
    fixture_run(&f, ROW COPY(0) "cp.async.wait_group 0;\n", 32);
    assert_true(fixture_has(&f, PTX_HAZARD_NEVER_WAITED));
    assert_non_null(strstr(f.result.hazards[0].text, "commit_group"));
    fixture_end(&f);
}

/* wait_all commits too: the copies on both sides of it are different groups. */
static void wait_all_ends_a_group(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                ROW COPY(0) "cp.async.wait_all;\n" OUT(0) "cp.async.wait_all;\n" COPY(
                    512) "cp.async.wait_all;\n" OUT(512) COPY(1024) "cp.async.commit_group;\n"
                                                                    "cp.async.wait_all;\n",
                32);
    fixture_is_clean(&f);
    unsigned issued = 0;
    for (size_t i = 0; i < f.result.event_count; i++)
        if (f.result.events[i].kind == PTX_EVENT_ISSUE)
            assert_int_equal(f.result.events[i].group, issued++);
    assert_int_equal(issued, 3);
    fixture_end(&f);
}

/* "{thread} 读了 {where}，它由 {other} 拷贝...": no space between Chinese characters. */
static void a_translated_report_has_no_odd_spaces(void **state)
{
    (void)state;
    struct ptx_fixture f;
    struct err err = {0};
    if (!msg_load(".", "zh", &err))
        skip();
    fixture_run(
        &f,
        ROW COPY(0) "cp.async.wait_all;\nxor.b32 %r6, %r4, 512;\nld.shared.u32 %r7, [%r6];\n"
                    "st.global.u32 [%rd5], %r7;\n",
        64);
    assert_true(msg_load(".", "en", &err));
    assert_true(fixture_has(&f, PTX_HAZARD_NOT_PUBLISHED));
    const char *text = f.result.hazards[0].text;
    if (!strstr(text, "读了 s") || !strstr(text, "warp 的线程 ") || !strstr(text, " 拷贝"))
        fail_msg("%s", text);
    fixture_end(&f);
}

static void groups_count_for_each_thread(void **state)
{
    (void)state;
    struct ptx_fixture f;
    /* Odd lanes commit an empty group more, so wait_group 1 covers their copy and not the others'.
     */
    fixture_run(&f,
                ROW COPY(0) "cp.async.commit_group;\nand.b32 %r6, %r1, 1;\n"
                            "setp.eq.u32 %p1, %r6, 1;\n@%p1 cp.async.commit_group;\n"
                            "cp.async.wait_group 1;\n@%p1 bra L1;\nbra L2;\nL1:\n" OUT(
                                0) "L2:\ncp.async.wait_group 0;\n",
                32);
    fixture_is_clean(&f);
    assert_memory_equal(f.out + 4, f.in + 4, 16);
    fixture_end(&f);
    fixture_run(
        &f,
        ROW COPY(0) "cp.async.commit_group;\nand.b32 %r6, %r1, 1;\n"
                    "setp.eq.u32 %p1, %r6, 1;\n@%p1 cp.async.commit_group;\n"
                    "cp.async.wait_group 1;\n@%p1 bra L1;\n" OUT(0) "L1:\ncp.async.wait_group 0;\n",
        32);
    assert_true(fixture_has(&f, PTX_HAZARD_IN_FLIGHT));
    fixture_end(&f);
}

static void what_the_source_lacks_becomes_zero(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                ROW "and.b32 %r6, %r1, 15;\nadd.u32 %r6, %r6, 1;\n"
                    "cp.async.ca.shared.global [%r5], [%rd6], 16, %r6;\n"
                    "cp.async.wait_all;\n" OUT(0),
                32);
    fixture_is_clean(&f);
    const uint8_t *in = (const uint8_t *)f.in, *out = (const uint8_t *)f.out;
    for (unsigned i = 0; i < 512; i++)
        assert_int_equal(out[i], i % 16 < i / 16 % 16 + 1 ? in[i] : 0);
    fixture_end(&f);
}

static void smaller_copies_and_ignored_sources(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(
        &f,
        "and.b32 %r6, %r1, 1;\nsetp.eq.u32 %p1, %r6, 1;\n"
        "cp.async.ca.shared.global [%r4], [%rd4], 4, %p1;\ncp.async.wait_all;\n"
        "ld.shared.u32 %r7, [%r4];\nst.global.u32 [%rd5], %r7;\n"
        "mad.lo.u32 %r5, %r1, 8, %r3;\nmad.wide.u32 %rd6, %r1, 8, %rd1;\n"
        "mad.wide.u32 %rd7, %r1, 8, %rd2;\n"
        "cp.async.ca.shared.global [%r5+1024], [%rd6+64], 8;\ncp.async.wait_all;\n"
        "ld.shared.v2.u32 {%r8, %r9}, [%r5+1024];\nst.global.v2.u32 [%rd7+1024], {%r8, %r9};",
        32);
    fixture_is_clean(&f);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(f.out[i], i & 1 ? 0 : i);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(f.out[256 + i], 16 + i);
    fixture_end(&f);
}

static void crooked_and_outside_addresses_stop_the_launch(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f, ROW "cp.async.cg.shared.global [%r5], [%rd6+4], 16;\n", 32);
    assert_int_equal(f.result.status, PTX_FAULT);
    fixture_end(&f);
    fixture_run(&f, ROW "cp.async.cg.shared.global [%r5+8], [%rd6], 16;\n", 32);
    assert_int_equal(f.result.status, PTX_FAULT);
    fixture_end(&f);
    fixture_run(&f, ROW "cp.async.cg.shared.global [%r5+3600], [%rd6], 16;\n", 32);
    assert_int_equal(f.result.status, PTX_FAULT);
    assert_int_equal(f.result.thread.thread[0], 31);
    fixture_end(&f);
    fixture_run(&f, ROW "cp.async.cg.shared.global [%r5], [%rd6+15888], 16;\n", 32);
    assert_int_equal(f.result.status, PTX_FAULT);
    fixture_end(&f);
}

static void source_is_taken_when_the_copy_lands(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                ROW COPY(0) "cp.async.commit_group;\nmov.u32 %r6, 7;\n"
                            "st.global.u32 [%rd6], %r6;\ncp.async.wait_group 0;\n" OUT(0),
                32);
    assert_true(fixture_has(&f, PTX_HAZARD_SOURCE_OVERWRITTEN));
    assert_int_equal(f.out[0], 7);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_land_when_their_group_is_waited_for),
        cmocka_unit_test(newer_group_is_still_in_flight),
        cmocka_unit_test(wait_all_takes_what_nobody_committed),
        cmocka_unit_test(wait_all_ends_a_group),
        cmocka_unit_test(a_translated_report_has_no_odd_spaces),
        cmocka_unit_test(groups_count_for_each_thread),
        cmocka_unit_test(what_the_source_lacks_becomes_zero),
        cmocka_unit_test(smaller_copies_and_ignored_sources),
        cmocka_unit_test(crooked_and_outside_addresses_stop_the_launch),
        cmocka_unit_test(source_is_taken_when_the_copy_lands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
