/* Threads of one block on global memory, what a kernel may write, and the read-only path. */
#include "ptx_fixture.h"

/* Byte offset of the thread with the other warp's number in %rd6: &out[tid ^ 32] in %rd7. */
#define OTHER "xor.b32 %r6, %r2, 128;\ncvt.u64.u32 %rd6, %r6;\nadd.u64 %rd7, %rd2, %rd6;\n"

static void expect(const char *body, uint32_t threads, enum ptx_hazard_kind kind)
{
    struct ptx_fixture f;
    fixture_run(&f, body, threads);
    if (f.result.status != PTX_DONE)
        fail_msg("%s", f.result.message);
    if (!fixture_has(&f, kind))
        fail_msg("no %s for\n%s", ptx_hazard_name(kind), body);
    for (size_t i = 0; i < f.result.hazard_count; i++)
        assert_int_equal(f.result.hazards[i].space, PTX_SPACE_GLOBAL);
    fixture_end(&f);
}

static void expect_clean(const char *body, uint32_t threads)
{
    struct ptx_fixture f;
    fixture_run(&f, body, threads);
    fixture_is_clean(&f);
    fixture_end(&f);
}

static void threads_of_a_block_race(void **state)
{
    (void)state;
    expect(OTHER "st.global.u32 [%rd5], %r1;\nld.global.u32 %r7, [%rd7];\n", 64,
           PTX_HAZARD_RACE_READ_AFTER_WRITE);
    expect(OTHER "ld.global.u32 %r7, [%rd7];\nst.global.u32 [%rd5], %r7;\n", 64,
           PTX_HAZARD_RACE_WRITE_AFTER_READ);
    expect("st.global.u32 [%rd2], %r1;\n", 64, PTX_HAZARD_RACE_WRITE_AFTER_WRITE);
    expect(OTHER "st.global.u32 [%rd5], %r1;\nred.global.add.u32 [%rd7], 1;\n", 64,
           PTX_HAZARD_RACE_WRITE_AFTER_WRITE);
    expect("xor.b32 %r6, %r2, 4;\ncvt.u64.u32 %rd6, %r6;\nadd.u64 %rd7, %rd2, %rd6;\n"
           "st.global.u32 [%rd5], %r1;\nld.global.u32 %r7, [%rd7];\n"
           "st.global.u32 [%rd5+4096], %r7;\n",
           32, PTX_HAZARD_LOCKSTEP);
}

static void order_helps(void **state)
{
    (void)state;
    expect_clean(OTHER "st.global.u32 [%rd5], %r1;\nbar.sync 0;\nld.global.u32 %r7, [%rd7];\n", 64);
    expect_clean(OTHER "ld.global.u32 %r7, [%rd7];\nbar.sync 0;\nst.global.u32 [%rd5], %r7;\n", 64);
    expect_clean("xor.b32 %r6, %r2, 4;\ncvt.u64.u32 %rd6, %r6;\nadd.u64 %rd7, %rd2, %rd6;\n"
                 "st.global.u32 [%rd5], %r1;\nbar.warp.sync -1;\nld.global.u32 %r7, [%rd7];\n"
                 "bar.warp.sync -1;\nst.global.u32 [%rd5], %r7;\n",
                 32);
    /* the first lane of every four waits with its three, partially */
    expect_clean("and.b32 %r8, %r1, 28;\nmov.u32 %r9, 15;\nshl.b32 %r9, %r9, %r8;\n"
                 "xor.b32 %r6, %r2, 4;\ncvt.u64.u32 %rd6, %r6;\nadd.u64 %rd7, %rd2, %rd6;\n"
                 "st.global.u32 [%rd5], %r1;\nbar.warp.sync %r9;\nld.global.u32 %r7, [%rd7];\n"
                 "bar.warp.sync %r9;\nst.global.u32 [%rd5], %r7;\n",
                 32);
    expect_clean("red.global.add.u32 [%rd2], 1;\nbar.sync 0;\nld.global.u32 %r7, [%rd2];\n", 64);
}

static void equal_values_and_parts_of_words_are_no_race(void **state)
{
    (void)state;
    expect_clean("mov.u32 %r7, 5;\nst.global.u32 [%rd2], %r7;\n", 96);
    expect_clean(OTHER "mov.u32 %r8, 0xeeeeeeee;\nld.global.u32 %r7, [%rd7];\n"
                       "st.global.u32 [%rd5], %r8;\n",
                 64);
    expect_clean("cvt.u64.u32 %rd6, %r1;\nadd.u64 %rd7, %rd2, %rd6;\ncvt.u16.u32 %h1, %r1;\n"
                 "st.global.u8 [%rd7], %h1;\nld.global.u8 %h2, [%rd7];\nadd.u16 %h2, %h2, 1;\n"
                 "st.global.u8 [%rd7], %h2;\n",
                 96);
}

/* Two threads write different values through %rd9, which is `out` by a way of its own. */
static void pointers_are_followed(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "mov.u64 %rd9, %rd2;\n",
        "setp.eq.u32 %p1, %r1, 99;\nselp.b64 %rd9, %rd1, %rd2, %p1;\n",
        "sub.u64 %rd8, %rd2, %rd1;\nadd.u64 %rd9, %rd1, %rd8;\n",
        "mad.wide.u32 %rd9, %r1, 0, %rd2;\n",
        "mov.b64 {%r10, %r11}, %rd2;\nmov.b64 %rd9, {%r10, %r11};\n",
        "mov.b64 {%r10, %r11}, %rd2;\nshfl.sync.idx.b32 %r12, %r10, 0, 31, -1;\n"
        "shfl.sync.idx.b32 %r13, %r11, 0, 31, -1;\nmov.b64 %rd9, {%r12, %r13};\n",
        /* through memory: whole, in halves, and as an atomic's result */
        "st.shared.u64 [%r3], %rd2;\nld.shared.u64 %rd9, [%r3];\n",
        "st.shared.u64 [%r3], %rd2;\nld.shared.v2.u32 {%r10, %r11}, [%r3];\n"
        "mov.b64 %rd9, {%r10, %r11};\n",
        "st.shared.u64 [%r3], %rd2;\nbar.sync 0;\natom.shared.or.b64 %rd9, [%r3], 0;\n",
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct ptx_fixture f;
        struct buf body = {0};
        buf_printf(&body, "%sst.global.u32 [%%rd9+4], %%r1;\n", ways[i]);
        fixture_run(&f, buf_str(&body), 64);
        if (f.result.status != PTX_DONE)
            fail_msg("%s", f.result.message);
        bool found = false;
        for (size_t k = 0; k < f.result.hazard_count; k++)
            found |= f.result.hazards[k].space == PTX_SPACE_GLOBAL &&
                     f.result.hazards[k].kind == PTX_HAZARD_RACE_WRITE_AFTER_WRITE;
        if (!found)
            fail_msg("nothing was found behind\n%s", ways[i]);
        fixture_end(&f);
        buf_free(&body);
    }
}

static void read_only_path_wants_read_only_data(void **state)
{
    (void)state;
    expect(OTHER "st.global.u32 [%rd5], %r1;\nbar.sync 0;\nld.global.nc.u32 %r7, [%rd7];\n", 64,
           PTX_HAZARD_READ_ONLY_PATH);
    expect(OTHER "ld.global.nc.u32 %r7, [%rd7];\nbar.sync 0;\nst.global.u32 [%rd5], %r7;\n", 64,
           PTX_HAZARD_READ_ONLY_PATH);
    expect("ld.global.nc.v4.u32 {%r6, %r7, %r8, %r9}, [%rd2];\nbar.sync 0;\n"
           "setp.eq.u32 %p1, %r1, 3;\n@%p1 atom.global.add.u32 %r10, [%rd5], %r1;\n",
           64, PTX_HAZARD_READ_ONLY_PATH);
    expect_clean("ld.global.nc.u32 %r7, [%rd4];\nst.global.u32 [%rd5], %r7;\n"
                 "ld.global.nc.u32 %r7, [%rd5+4096];\n",
                 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_a_block_race),
        cmocka_unit_test(order_helps),
        cmocka_unit_test(equal_values_and_parts_of_words_are_no_race),
        cmocka_unit_test(pointers_are_followed),
        cmocka_unit_test(read_only_path_wants_read_only_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
