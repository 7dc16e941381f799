/* What stops a launch of PTX, and what is said of it: faults, waits without an end, launches that
 * cannot be. */
#include "ptx_launch.h"

static void stops(const char *body, enum ptx_status status, const char *want, uint32_t line)
{
    struct fixture f;
    char text[4000];
    snprintf(text, sizeof text, "%s%s%s", HEAD BEGIN ".shared .align 16 .b8 s[64];\n.loc 1 12 1\n",
             body, "\n" END);
    open_fixture(&f, text);
    f.memory[1].read_only = true;
    f.launch.options.steps = 100000;
    run(&f);
    assert_int_equal(f.result.status, status);
    if (!strstr(f.result.message, want))
        fail_msg("'%s' does not say '%s'", f.result.message, want);
    assert_int_equal(f.module->lines[f.result.line].line, line);
    close_fixture(&f);
}

static void faults_say_what_and_where(void **state)
{
    (void)state;
    stops("st.global.u32 [%rd3+16380], %r1;", PTX_FAULT,
          "write of 4 bytes of global memory at address 0x10004000: right behind the end of "
          "output, which has 16384 bytes",
          12);
    stops("ld.global.u32 %r2, [%rd2+-8];", PTX_FAULT, "8 bytes before input", 12);
    stops("ld.global.v2.u32 {%r2, %r3}, [%rd2+4];", PTX_FAULT, "not a multiple of 8", 12);
    stops("ld.global.u32 %r2, [16];", PTX_FAULT, "null pointer", 12);
    stops("st.global.u32 [%rd2], %r1;", PTX_FAULT, "input, which the kernel must not change", 12);
    stops("mad.lo.s32 %r2, %r1, 4, 8; st.shared.u32 [%r2], 1;", PTX_FAULT, "it ends at byte 64",
          12);
    stops("st.shared.v4.u32 [s+8], {%r1, %r1, %r1, %r1};", PTX_FAULT, "misaligned", 12);
    stops("cp.async.cg.shared.global [s+56], [%rd2], 16;", PTX_FAULT,
          "asynchronous copy of 16 bytes at shared address 0x38", 12);
    stops("cp.async.cg.shared.global [s], [%rd2+4], 16;", PTX_FAULT,
          "asynchronous copy of 16 bytes at global address 0x", 12);
    stops("cp.async.cg.shared.global [s+64], [%rd2], 16;", PTX_FAULT,
          "asynchronous copy of 16 bytes of shared memory at 64, but it ends at byte 64", 12);
    stops("trap;", PTX_FAULT, "trap", 12);
    stops("atom.global.add.u32 %r2, [%rd3+2], 1;", PTX_FAULT, "misaligned: atomic operation", 12);
    stops("mov.u32 %r2, 99; T: .branchtargets A; brx.idx %r2, T; A:", PTX_FAULT,
          "entry 99 of a table of 1", 12);
    stops("L: add.s32 %r2, %r2, 1; .loc 1 13 1\n bra L;", PTX_TIMED_OUT, "endless loop", 12);
    stops("L: bar.sync 0; .loc 1 13 1\n bra L;", PTX_TIMED_OUT, "endless loop", 12);
    stops("setp.gt.u32 %p1, %r1, 31; @%p1 bra L; bar.sync 1, 64; L:", PTX_DEADLOCK, "", 12);
    stops("tanh.f99 %f1, %f2;", PTX_UNSUPPORTED,
          "the simulator does not know tanh.f99 (your line 12)", 12);
    stops("barrier.cluster.arrive; mov.u32 %r2, 1; barrier.cluster.wait;", PTX_UNSUPPORTED,
          "barrier.cluster.wait has to follow at once", 12);
}

/* Waiting for a block that comes later is our limit; the last block's endless wait is its own. */
static void waiting_for_blocks_is_told(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f, HEAD BEGIN
                 ".loc 1 12 1\nL: ld.volatile.global.u32 %r2, [%rd1+64]; setp.eq.u32 %p1, %r2, 0; "
                 "@%p1 bra L;\n" END);
    f.launch.options.steps = 200000;
    f.launch.grid[0] = 2;
    run(&f);
    assert_int_equal(f.result.status, PTX_UNSUPPORTED);
    assert_non_null(strstr(f.result.message, "block 0 waits for another block"));
    assert_int_equal(f.module->lines[f.result.line].line, 12);
    f.launch.options.steps = UINT64_MAX; /* the time is up first */
    f.launch.options.deadline_ms = 5;
    run(&f);
    assert_int_equal(f.result.status, PTX_UNSUPPORTED);
    assert_non_null(strstr(f.result.message, "block 0 waits for another block"));
    f.launch.options.steps = 200000;
    f.launch.options.deadline_ms = 0;
    f.launch.grid[0] = 1;
    run(&f);
    assert_int_equal(f.result.status, PTX_TIMED_OUT);
    close_fixture(&f);
}

static void launches_are_checked(void **state)
{
    (void)state;
    struct fixture f;
    struct err err = {0};
    open_fixture(&f, HEAD BEGIN END);
    f.launch.entry = "nothing";
    assert_false(ptx_run(&f.result, &f.launch, &err));
    assert_string_equal(err.text, "the program has no kernel named nothing");
    f.launch.entry = "k";
    f.launch.block[1] = 17;
    assert_false(ptx_run(&f.result, &f.launch, &err));
    assert_non_null(strstr(err.text, "at most 1024"));
    f.launch.block[1] = 1;
    f.launch.param_bytes = 8;
    assert_false(ptx_run(&f.result, &f.launch, &err));
    f.launch.param_bytes = 16;
    f.launch.dynamic_shared_bytes = 1 << 20;
    assert_false(ptx_run(&f.result, &f.launch, &err));
    f.launch.dynamic_shared_bytes = 0;
    f.launch.grid[2] = 0;
    assert_false(ptx_run(&f.result, &f.launch, &err));
    close_fixture(&f);
}

static void a_thread_has_so_much_local_memory(void **state)
{
    (void)state;
    struct fixture f;
    struct err err = {0};
    open_fixture(&f, HEAD BEGIN ".local .align 4 .b8 much[800000];\n" END);
    assert_false(ptx_run(&f.result, &f.launch, &err));
    assert_string_equal(err.text,
                        "800000 bytes of local memory per thread: at most 524288 are possible");
    close_fixture(&f);
}

static void the_first_fault_counts(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f, HEAD BEGIN "mov.u32 %r2, %ctaid.x; setp.lt.u32 %p1, %r2, 5; @%p1 bra OK;\n"
                                "st.global.u32 [%rd3+65536], %r2; OK:\n" END);
    f.launch.grid[0] = 40;
    for (int i = 0; i < 5; i++) {
        f.launch.options.threads = 1 + (unsigned)i;
        run(&f);
        assert_int_equal(f.result.status, PTX_FAULT);
        assert_int_equal(f.result.thread.block[0], 5);
        assert_int_equal(f.result.thread.thread[0], 0);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_say_what_and_where),
        cmocka_unit_test(waiting_for_blocks_is_told),
        cmocka_unit_test(launches_are_checked),
        cmocka_unit_test(a_thread_has_so_much_local_memory),
        cmocka_unit_test(the_first_fault_counts),
    };
    return cmocka_run_group_tests_name("ptx stops", tests, NULL, NULL);
}
