/* Addresses to lines: a real shared object, built by g++ as nvcc would have it built, whose calls
 * into this program must be put down to the right lines. */
#include "harness/host/lines.h"
#include "harness/host_lines.h"

#include "harness/base/file.h"
#include "harness/process.h"
#include "harness/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Line numbers count from the first line of this text. */
static const char source[] = "#include <algorithm>\n"                               /* 1 */
                             "#include <thread>\n"                                  /* 2 */
                             "extern \"C\" int (*note)(int what);\n"                /* 3 */
                             "int (*note)(int what);\n"                             /* 4 */
                             "static inline int deeper(int x)\n"                    /* 5 */
                             "{\n"                                                  /* 6 */
                             "    return note(x) + 1;\n"                            /* 7 */
                             "}\n"                                                  /* 8 */
                             "__attribute__((noinline)) static int apart(int x)\n"  /* 9 */
                             "{\n"                                                  /* 10 */
                             "    return deeper(x);\n"                              /* 11 */
                             "}\n"                                                  /* 12 */
                             "#line 1 \"other.h\"\n"                                /* 13 */
                             "__attribute__((noinline)) static int header(int x)\n" /* 14 */
                             "{\n"                                                  /* 15 */
                             "    return note(x);\n"                                /* 16 */
                             "}\n"                                                  /* 17 */
                             "#line 18 \"kernel.cu\"\n"                             /* 17 */
                             "extern \"C\" void run(int *p)\n"                      /* 18 */
                             "{\n"                                                  /* 19 */
                             "    note(1);\n"                                       /* 20 */
                             "    deeper(2);\n"                                     /* 21 */
                             "    apart(3);\n"                                      /* 22 */
                             "    header(4);\n"                                     /* 23 */
                             "    std::sort(p, p + 9, [](int a, int b) {\n"         /* 24 */
                             "        note(5);\n"                                   /* 25 */
                             "        return a < b; });\n"                          /* 26 */
                             "    std::thread t([] { note(6); });\n"                /* 27 */
                             "    t.join();\n"                                      /* 28 */
                             "    note(7);\n"                                       /* 29 */
                             "}\n"                                                  /* 30 */
                             "extern \"C\" void crash(int *p) { *p = 1; }\n";       /* 31 */

static int lines_seen[8];

__attribute__((noinline)) static int note(int what)
{
    lines_seen[what] = lines_of_call(lines_site(__builtin_frame_address(0)));
    return what;
}

struct fixture {
    char *folder, *object, *table;
    void *handle;
};

static void run_tool(char *const argv[], const char *folder)
{
    struct process process;
    struct process_result result;
    struct err err = {0};
    if (!process_start(&process, argv, folder, -1, NULL, &err) ||
        !process_finish(&process, &result, 60000, &err))
        fail_msg("%s", err.text);
    if (result.status != 0)
        fail_msg("%s: %s", argv[0], buf_str(&result.text));
    process_result_free(&result);
}

static int build(void **state)
{
    struct err err = {0};
    struct fixture *fixture = mem_zero(1, sizeof *fixture);
    fixture->folder = scratch_make(&err);
    if (!fixture->folder)
        fail_msg("%s", err.text);
    char *file = path_join(fixture->folder, "kernel.cu");
    fixture->object = path_join(fixture->folder, "yours.so");
    fixture->table = path_join(fixture->folder, "yours.lines");
    assert_true(file_write(file, source, strlen(source), false, &err));
    char *argv[] = {"/usr/bin/g++",
                    "-xc++",
                    "-shared",
                    "-fPIC",
                    "-O2",
                    "-g",
                    "-fno-omit-frame-pointer",
                    "-fno-optimize-sibling-calls",
                    "-o",
                    "yours.so",
                    "kernel.cu",
                    NULL};
    run_tool(argv, fixture->folder);
    if (!host_lines_write(fixture->object, "kernel.cu", fixture->table, &err))
        fail_msg("%s", err.text);
    free(file);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    file_remove_folder(fixture->folder);
    free(fixture->folder);
    free(fixture->object);
    free(fixture->table);
    free(fixture);
    return 0;
}

static void calls_are_put_down_to_their_lines(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    if (!lines_load(fixture->table, &err))
        fail_msg("%s", err.text);
    fixture->handle = dlopen(fixture->object, RTLD_NOW);
    if (!fixture->handle)
        fail_msg("%s", dlerror());
    void *run = dlsym(fixture->handle, "run");
    assert_int_equal(lines_at(run), 0); /* not attached yet */
    assert_true(lines_attach(run));
    assert_true(lines_inside(run));
    assert_false(lines_inside((void *)note));

    *(int (**)(int))dlsym(fixture->handle, "note") = note;
    int numbers[9] = {3, 1, 4, 1, 5, 9, 2, 6, 5};
    ((void (*)(int *))run)(numbers);
    assert_int_equal(lines_seen[1], 20);
    assert_int_equal(lines_seen[2], 7);  /* inlined, or ... */
    assert_int_equal(lines_seen[3], 7);  /* ... in a function of its own: the call's own line */
    assert_int_equal(lines_seen[4], 23); /* out of a header: the line that called it */
    assert_in_range(lines_seen[5], 24, 25);
    assert_in_range(lines_seen[6], 27, 27);
    assert_int_equal(lines_seen[7], 29);
}

static void an_instruction_has_a_line_too(void **state)
{
    struct fixture *fixture = *state;
    const char *crash = dlsym(fixture->handle, "crash");
    int found = 0;
    for (int i = 0; i < 12; i++)
        found |= lines_at(crash + i) == 31;
    assert_true(found);
    assert_int_equal(lines_at((void *)&found), 0);
    assert_int_equal(lines_of_call(NULL), 0);
}

static void what_is_no_table_is_said(void **state)
{
    struct fixture *fixture = *state;
    static const char *const bad[] = {"hello\n", "10 4\nzz 5\n", "20 4\n10 5\n", "10 -1\n"};
    char *path = path_join(fixture->folder, "bad.lines");
    struct err err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(file_write(path, bad[i], strlen(bad[i]), false, &err));
        assert_false(lines_load(path, &err));
    }
    free(path);
    assert_false(lines_load("/nonexistent", &err));
    assert_false(host_lines_write("/dev/null", "kernel.cu", "/dev/null", &err));
    assert_false(host_lines_write(fixture->table, "kernel.cu", "/dev/null", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_put_down_to_their_lines),
        cmocka_unit_test(an_instruction_has_a_line_too),
        cmocka_unit_test(what_is_no_table_is_said),
    };
    return cmocka_run_group_tests(tests, build, tear_down);
}
