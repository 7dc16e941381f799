/* The base library: buffers keep their cap, arenas their alignment, files their old content when a
 * write fails. */
#include "harness/base/arena.h"
#include "harness/base/buf.h"
#include "harness/base/file.h"
#include "harness/base/kind.h"
#include "harness/base/msg.h"
#include "harness/base/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void buffer_stops_at_its_cap(void **state)
{
    (void)state;
    struct buf buf = {.cap = 5};
    buf_add_str(&buf, "abc");
    assert_false(buf.cut);
    buf_printf(&buf, "%d", 4567);
    assert_true(buf.cut);
    assert_string_equal(buf_str(&buf), "abc45");
    buf_free(&buf);
    assert_string_equal(buf_str(&buf), "");
}

static void arena_memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t size = 1; size < 20000; size += 777) {
        char *memory = arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
    }
    assert_string_equal(arena_printf(&arena, "%s-%d", "a", 3), "a-3");
    arena_free(&arena);
    assert_null(arena.chunk);
}

static void failed_write_keeps_the_old_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/stride-base-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = path_join(folder, "file");
    struct err err = {0};
    assert_true(file_write(path, "old", 3, true, &err));
    char *below = path_join(path, "child");
    assert_false(file_write(below, "x", 1, false, &err));
    assert_non_null(strstr(err.text, "child"));
    struct buf read = {0};
    assert_true(file_read(&read, path, 100, &err));
    assert_string_equal(buf_str(&read), "old");
    assert_false(file_read(&read, path, 2, &err));
    assert_false(file_read(&read, folder, 100, &err));
    buf_free(&read);
    unlink(path);
    rmdir(folder);
    free(below);
    free(path);
}

static void write_goes_through_a_symbolic_link(void **state)
{
    (void)state;
    char folder[] = "/tmp/stride-base-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char *path = path_join(folder, "real"), *link = path_join(folder, "link");
    struct err err = {0};
    assert_true(file_write(path, "1", 1, false, &err));
    assert_int_equal(symlink("real", link), 0);
    assert_true(file_write(link, "2", 1, false, &err));
    struct stat info;
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink(link);
    unlink(path);
    rmdir(folder);
    free(link);
    free(path);
}

static void paths_join_with_one_slash(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"a", "b", "a/b"}, {"a/", "/b", "a/b"}, {"/", "b", "/b"}, {"", "b", "b"}, {"//", "b", "/b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *joined = path_join(cases[i][0], cases[i][1]);
        assert_string_equal(joined, cases[i][2]);
        free(joined);
    }
}

static void verdicts_round_trip_and_rank(void **state)
{
    (void)state;
    for (int i = 0; i < VERDICT_COUNT; i++) {
        enum verdict parsed;
        assert_true(verdict_parse(&parsed, verdict_name((enum verdict)i)));
        assert_int_equal(parsed, i);
        assert_int_equal(strlen(verdict_mark((enum verdict)i)), 1);
        assert_int_equal(verdict_exit_status((enum verdict)i) == 0, i == VERDICT_PASS);
    }
    enum verdict none;
    assert_false(verdict_parse(&none, "fine"));
    assert_false(verdict_parse(&none, NULL));
    assert_int_equal(verdict_worse(VERDICT_HAZARD, VERDICT_PASS), VERDICT_HAZARD);
    assert_int_equal(verdict_worse(VERDICT_WRONG, VERDICT_NO_BUILD), VERDICT_NO_BUILD);
}

static void blanks_between_chinese_are_closed(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"块 1 的 线程 0 读了 另一个线程 写的 x[3]", "块 1 的线程 0 读了另一个线程写的 x[3]"},
        {"线程 8，而 线程 32 ：见第 2 行", "线程 8，而线程 32：见第 2 行"},
        {"a warp 的 12 个  lane ", "a warp 的 12 个  lane "},
        {"on the GPU", "on the GPU"},
        {"的 ", "的 "},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = mem_strdup(cases[i][0]);
        msg_close_blanks(text);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
}

static void kinds_are_known_by_name(void **state)
{
    (void)state;
    assert_true(kind_is_known("in-flight"));
    assert_true(kind_is_known("guard"));
    assert_false(kind_is_known("in-fligth"));
    assert_false(kind_is_known(""));
    for (unsigned i = 0; kind_name(i); i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(kind_name(i), kind_name(k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_stops_at_its_cap),
        cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
        cmocka_unit_test(failed_write_keeps_the_old_file),
        cmocka_unit_test(write_goes_through_a_symbolic_link),
        cmocka_unit_test(paths_join_with_one_slash),
        cmocka_unit_test(verdicts_round_trip_and_rank),
        cmocka_unit_test(blanks_between_chinese_are_closed),
        cmocka_unit_test(kinds_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
