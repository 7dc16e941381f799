/* The shadow of shared memory at the granularity of bytes, values and readers. */
#include "ptx_fixture.h"

#include "harness/base/kind.h"
#include "harness/base/msg.h"
#include "harness/driver.h"
#include "harness/host/kernel_json.h"

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

static void a_chinese_report_has_no_stray_blanks(void **state)
{
    (void)state;
    struct ptx_fixture f;
    struct err err = {0};
    assert_true(msg_load(".", "zh", &err));
    fixture_run(&f, BYTES "st.shared.u8 [%r5], %h1;\nld.shared.u8 %h3, [%r6];\n", 64);
    assert_true(msg_load(".", "en", &err));
    assert_int_equal(f.result.hazard_count, 1);
    const char *text = f.result.hazards[0].text;
    if (!strstr(text, "读了线程 ") || !strstr(text, "写的 "))
        fail_msg("%s", text);
    fixture_end(&f);
}

/* What a record can say, a hint can be about. */
static void every_kind_is_one_of_the_list(void **state)
{
    (void)state;
    for (int kind = 0; kind < PTX_HAZARD_KIND_COUNT; kind++)
        assert_true(kind_is_known(ptx_hazard_name((enum ptx_hazard_kind)kind)));
    for (int fault = PTX_FAULT_BOUNDS; fault <= PTX_FAULT_OTHER; fault++)
        assert_true(kind_is_known(kernel_json_fault((enum ptx_fault)fault)));
    const char *kind;
    for (int code = 0; code < 1000; code++)
        if (driver_is_fault(code, &kind))
            assert_true(kind_is_known(kind));
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

/* ---- shapes of a warp's addresses: each has a way of its own through the checks */

struct addresses {
    const char *text; /* %r6 = offset in s, from %r5 = lane */
    uint32_t (*of)(uint32_t lane);
};

static uint32_t equal_halves(uint32_t lane)
{
    return lane % 16 * 4;
}

static uint32_t one_word_a_half(uint32_t lane)
{
    return lane / 16 * 68;
}

static uint32_t row_and_word(uint32_t lane)
{
    return lane < 16 ? lane * 4 : 256;
}

static uint32_t column(uint32_t lane)
{
    return lane * 124;
}

static uint32_t pairs(uint32_t lane)
{
    return lane / 2 * 4;
}

static uint32_t backwards(uint32_t lane)
{
    return (31 - lane) * 4;
}

static uint32_t few(uint32_t lane)
{
    return lane * 5 % 8 * 64;
}

static const struct addresses shapes[] = {
    {"and.b32 %r6, %r5, 15;\nshl.b32 %r6, %r6, 2;\n", equal_halves},
    {"shr.u32 %r6, %r5, 4;\nmul.lo.u32 %r6, %r6, 68;\n", one_word_a_half},
    {"shl.b32 %r6, %r5, 2;\nsetp.ge.u32 %p2, %r5, 16;\nselp.u32 %r6, 256, %r6, %p2;\n",
     row_and_word},
    {"mul.lo.u32 %r6, %r5, 124;\n", column},
    {"shr.u32 %r6, %r5, 1;\nshl.b32 %r6, %r6, 2;\n", pairs},
    {"sub.u32 %r6, 31, %r5;\nshl.b32 %r6, %r6, 2;\n", backwards},
    {"mul.lo.u32 %r6, %r5, 5;\nand.b32 %r6, %r6, 7;\nshl.b32 %r6, %r6, 6;\n", few},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Everything is set; warp 0 reads or writes words of its shape; then, behind a barrier or not, a
 * thread of warp 1 stores to one word. */
static bool is_reported(const struct addresses *shape, const char *access, bool barrier,
                        uint32_t word)
{
    struct ptx_fixture f;
    struct buf body = {0};
    buf_add_str(&body, "mov.u32 %r7, 0;\nmov.u32 %r8, %r4;\nFILL: st.shared.u32 [%r8], %r7;\n"
                       "add.u32 %r8, %r8, 256;\nadd.u32 %r7, %r7, 1;\n"
                       "setp.lt.u32 %p1, %r7, 16;\n@%p1 bra FILL;\nbar.sync 0;\n"
                       "and.b32 %r5, %r1, 31;\n");
    buf_printf(&body,
               "%sadd.u32 %%r6, %%r6, %%r3;\nsetp.lt.u32 %%p1, %%r1, 32;\n@!%%p1 bra REST;\n%s"
               "REST:\n%ssetp.eq.u32 %%p3, %%r1, 45;\n@%%p3 st.shared.u32 [%%r3+%u], %%r1;\n",
               shape->text, access, barrier ? "bar.sync 0;\n" : "", word * 4);
    fixture_run(&f, buf_str(&body), 64);
    assert_int_equal(f.result.status, PTX_DONE);
    bool found = false;
    for (size_t i = 0; i < f.result.hazard_count; i++)
        found |= f.result.hazards[i].kind != PTX_HAZARD_LOCKSTEP;
    fixture_end(&f);
    buf_free(&body);
    return found;
}

static void every_shape_of_addresses_is_followed(void **state)
{
    (void)state;
    static const char *const reads[] = {
        "ld.shared.u32 %r9, [%r6];\nst.global.u32 [%rd5], %r9;\n",
        /* the second time round the words have their readers */
        ("ld.shared.u32 %r9, [%r6];\nld.shared.u32 %r10, [%r6];\nadd.u32 %r9, %r9, %r10;\n"
         "st.global.u32 [%rd5], %r9;\n"),
        "cvt.u64.u32 %rd9, %r6;\nld.shared.u32 %r9, [%rd9];\nst.global.u32 [%rd5], %r9;\n",
    };
    static const char *const store = "st.shared.u32 [%r6], %r1;\n";
    for (int i = 0; i < SHAPES; i++) {
        bool touched[1024] = {0};
        for (uint32_t lane = 0; lane < 32; lane++)
            touched[shapes[i].of(lane) / 4] = true;
        for (uint32_t word = 0; word < 1024; word += word < 70 ? 1 : 31) {
            assert_int_equal(is_reported(&shapes[i], reads[word % 3], false, word), touched[word]);
            assert_false(is_reported(&shapes[i], reads[(word + 1) % 3], true, word));
        }
        /* two lanes that store to one word are a bug of their own */
        if (shapes[i].of != column && shapes[i].of != backwards)
            continue;
        for (uint32_t word = 0; word < 1024; word += word < 70 ? 1 : 31) {
            assert_int_equal(is_reported(&shapes[i], store, false, word), touched[word]);
            assert_false(is_reported(&shapes[i], store, true, word));
        }
    }
}

static void lanes_that_read_one_word_are_all_remembered(void **state)
{
    (void)state;
    struct ptx_fixture f;
    for (int i = 0; i < SHAPES; i++) {
        struct buf body = {0};
        buf_printf(
            &body,
            "mov.u32 %%r7, 3;\nst.shared.u32 [%%r4], %%r7;\nst.shared.u32 [%%r4+128], %%r7;\n"
            "bar.sync 0;\nmov.u32 %%r5, %%r1;\n%sand.b32 %%r6, %%r6, 252;\n"
            "add.u32 %%r6, %%r6, %%r3;\nld.shared.u32 %%r9, [%%r6];\n"
            "st.shared.u32 [%%r6], %%r9;\n",
            shapes[i].text);
        fixture_run(&f, buf_str(&body), 32);
        bool alone = true;
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t other = 0; other < lane; other++)
                alone &= ((shapes[i].of(lane) ^ shapes[i].of(other)) & 252) != 0;
        assert_int_equal(fixture_has(&f, PTX_HAZARD_LOCKSTEP), !alone);
        fixture_end(&f);
        buf_free(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_may_share_a_word),
        cmocka_unit_test(one_byte_in_common_is_a_race),
        cmocka_unit_test(a_chinese_report_has_no_stray_blanks),
        cmocka_unit_test(every_kind_is_one_of_the_list),
        cmocka_unit_test(word_after_bytes_sees_each_of_them),
        cmocka_unit_test(stores_of_one_value_are_harmless),
        cmocka_unit_test(atomics_go_together_and_with_nothing_else),
        cmocka_unit_test(each_reader_has_to_be_waited_for),
        cmocka_unit_test(loads_that_go_nowhere_are_no_matter),
        cmocka_unit_test(arrays_are_named_by_element),
        cmocka_unit_test(every_shape_of_addresses_is_followed),
        cmocka_unit_test(lanes_that_read_one_word_are_all_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
