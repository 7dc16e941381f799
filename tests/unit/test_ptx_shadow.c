/* The shadow of shared memory at the granularity of bytes, values and readers. */
#include "ptx_fixture.h"

/* Byte address of this thread in %r5, of its neighbour in the next warp in %r6. */
#define BYTES                                                                                      \
    "add.u32 %r5, %r3, %r1;\nxor.b32 %r6, %r1, 32;\nadd.u32 %r6, %r6, %r3;\ncvt.u16.u32 %h1, "     \
    "%r1;\n"

static void neighbours_may_share_a_word(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f,
                BYTES "st.shared.u8 [%r5], %h1;\nld.shared.u8 %h2, [%r5];\nadd.u16 %h2, %h2, 1;\n"
                      "st.shared.u8 [%r5], %h2;\nbar.sync 0;\nld.shared.u8 %h3, [%r6];\n"
                      "cvt.u32.u16 %r7, %h3;\nst.global.u32 [%rd5], %r7;\n",
                64);
    fixture_is_clean(&f);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(f.out[i], (i ^ 32) + 1);
    fixture_end(&f);
}

static void one_byte_in_common_is_a_race(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f, BYTES "st.shared.u8 [%r5], %h1;\nld.shared.u8 %h3, [%r6];\n", 64);
    assert_int_equal(f.result.hazard_count, 1);
    assert_int_equal(f.result.hazards[0].kind, PTX_HAZARD_RACE_READ_AFTER_WRITE);
    assert_int_equal(f.result.hazards[0].bytes, 1);
    fixture_end(&f);
}

static void word_after_bytes_sees_each_of_them(void **state)
{
    (void)state;
    struct ptx_fixture f;
    /* thread 0 writes three of four bytes, and reads the word */
    fixture_run(&f,
                "mov.u16 %h1, 5;\nst.shared.u8 [%r3], %h1;\nst.shared.u16 [%r3+2], %h1;\n"
                "ld.shared.u32 %r6, [%r3];\nst.global.u32 [%rd5], %r6;\n",
                1);
    assert_true(fixture_has(&f, PTX_HAZARD_UNINITIALISED));
    fixture_end(&f);
    fixture_run(
        &f,
        "mov.u16 %h1, 5;\nst.shared.u8 [%r3], %h1;\nst.shared.u16 [%r3+2], %h1;\n"
        "st.shared.u8 [%r3+1], %h1;\nld.shared.u32 %r6, [%r3];\nst.global.u32 [%rd5], %r6;\n",
        1);
    fixture_is_clean(&f);
    assert_int_equal(f.out[0], 0x00050505);
    fixture_end(&f);
}

static void stores_of_one_value_are_harmless(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f, "mov.u32 %r6, 9;\nst.shared.u32 [%r3], %r6;\n", 96);
    fixture_is_clean(&f);
    fixture_end(&f);
    fixture_run(&f, "st.shared.u32 [%r3], %r1;\n", 96);
    assert_true(fixture_has(&f, PTX_HAZARD_RACE_WRITE_AFTER_WRITE));
    fixture_end(&f);
}

static void atomics_go_together_and_with_nothing_else(void **state)
{
    (void)state;
    struct ptx_fixture f;
    const char *head =
        "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r6, 0;\n@%p1 st.shared.u32 [%r3], %r6;\n";
    struct buf body = {0};
    buf_printf(&body,
               "%sbar.sync 0;\nred.shared.add.u32 [%%r3], 1;\nbar.sync 0;\n"
               "ld.shared.u32 %%r7, [%%r3];\nst.global.u32 [%%rd5], %%r7;\n",
               head);
    fixture_run(&f, buf_str(&body), 96);
    fixture_is_clean(&f);
    assert_int_equal(f.out[95], 96);
    fixture_end(&f);
    buf_clear(&body);
    buf_printf(&body, "%sbar.sync 0;\nred.shared.add.u32 [%%r3], 1;\nld.shared.u32 %%r7, [%%r3];\n",
               head);
    fixture_run(&f, buf_str(&body), 64);
    assert_true(fixture_has(&f, PTX_HAZARD_RACE_READ_AFTER_WRITE));
    fixture_end(&f);
    buf_clear(&body);
    buf_printf(&body, "%sred.shared.add.u32 [%%r3], 1;\n", head);
    fixture_run(&f, buf_str(&body), 64);
    assert_true(fixture_has(&f, PTX_HAZARD_RACE_WRITE_AFTER_WRITE));
    fixture_end(&f);
    buf_free(&body);
}

/* Warps 1 and 2 read what warp 0 wrote; only warp 1 tells warp 0 that it has done so. */
static void each_reader_has_to_be_waited_for(void **state)
{
    (void)state;
    const char *head = "shr.u32 %r6, %r1, 5;\nsetp.eq.u32 %p1, %r6, 0;\nsetp.eq.u32 %p2, %r6, 1;\n"
                       "and.b32 %r7, %r1, 31;\nmad.lo.u32 %r7, %r7, 4, %r3;\n"
                       "@%p1 st.shared.u32 [%r7], %r1;\nbar.sync 0;\n@%p1 bra W0;\n"
                       "ld.shared.u32 %r8, [%r7];\n";
    struct ptx_fixture f;
    struct buf body = {0};
    buf_printf(&body,
               "%sbar.arrive 1, 96;\nbra END;\nW0:\nbar.sync 1, 96;\n"
               "st.shared.u32 [%%r7], %%r7;\nEND:\n",
               head);
    fixture_run(&f, buf_str(&body), 96);
    fixture_is_clean(&f);
    fixture_end(&f);
    buf_clear(&body);
    buf_printf(&body,
               "%s@!%%p2 bra END;\nbar.arrive 1, 64;\nbra END;\nW0:\nbar.sync 1, 64;\n"
               "st.shared.u32 [%%r7], %%r7;\nEND:\n",
               head);
    fixture_run(&f, buf_str(&body), 96);
    assert_int_equal(f.result.hazard_count, 1);
    assert_int_equal(f.result.hazards[0].kind, PTX_HAZARD_RACE_WRITE_AFTER_READ);
    assert_int_equal(f.result.hazards[0].other.thread[0] / 32, 2);
    fixture_end(&f);
    buf_free(&body);
}

static void loads_that_go_nowhere_are_no_matter(void **state)
{
    (void)state;
    struct ptx_fixture f;
    /* every thread loads, only threads below 8 take it */
    static const char body[] = "setp.lt.u32 %%p1, %%r1, %u;\nld.shared.u32 %%r6, [%%r4+64];\n"
                               "add.u32 %%r7, %%r6, 1;\nselp.u32 %%r8, %%r7, 0, %%p1;\n"
                               "st.global.u32 [%%rd5], %%r8;\n";
    struct buf text = {0};
    buf_printf(&text, body, 0);
    fixture_run(&f, buf_str(&text), 32);
    fixture_is_clean(&f);
    fixture_end(&f);
    buf_clear(&text);
    buf_printf(&text, body, 8);
    fixture_run(&f, buf_str(&text), 32);
    assert_int_equal(f.result.hazard_count, 1);
    assert_int_equal(f.result.hazards[0].kind, PTX_HAZARD_UNINITIALISED);
    assert_int_equal(f.result.hazards[0].count, 8);
    fixture_end(&f);
    buf_free(&text);
}

static void arrays_are_named_by_element(void **state)
{
    (void)state;
    struct ptx_fixture f;
    fixture_run(&f, "ld.shared.u32 %r6, [%r4+64];\nst.global.u32 [%rd5], %r6;\n", 4);
    assert_int_equal(f.result.hazard_count, 1);
    assert_string_equal(f.result.hazards[0].where, "s[16]");
    assert_int_equal(f.result.hazards[0].count, 4);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_may_share_a_word),
        cmocka_unit_test(one_byte_in_common_is_a_race),
        cmocka_unit_test(word_after_bytes_sees_each_of_them),
        cmocka_unit_test(stores_of_one_value_are_harmless),
        cmocka_unit_test(atomics_go_together_and_with_nothing_else),
        cmocka_unit_test(each_reader_has_to_be_waited_for),
        cmocka_unit_test(loads_that_go_nowhere_are_no_matter),
        cmocka_unit_test(arrays_are_named_by_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
