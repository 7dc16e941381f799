/* The student's accesses to pinned memory while an operation needs it: each one that can't be right
 * is seen with its line, no other one ever is, every access still does what it did, and a crash is
 * still a crash. The student's code is a real shared object. */
#include "harness/host/lines.h"
#include "harness/host/sim_guard.h"
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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Line numbers count from the first line of this text. */
static const char source[] =
    "#include <cstdlib>\n"                                                    /* 1 */
    "#include <cstring>\n"                                                    /* 2 */
    "#include <thread>\n"                                                     /* 3 */
    "#include <vector>\n"                                                     /* 4 */
    "extern \"C\" int get(volatile int *p)\n"                                 /* 5 */
    "{\n"                                                                     /* 6 */
    "    return *p;\n"                                                        /* 7 */
    "}\n"                                                                     /* 8 */
    "extern \"C\" void put(volatile int *p, int v)\n"                         /* 9 */
    "{\n"                                                                     /* 10 */
    "    *p = v;\n"                                                           /* 11 */
    "}\n"                                                                     /* 12 */
    "extern \"C\" long sum(const int *p, int n)\n"                            /* 13 */
    "{\n"                                                                     /* 14 */
    "    long s = 0;\n"                                                       /* 15 */
    "    for (int i = 0; i < n; i++) s += p[i];\n"                            /* 16 */
    "    return s;\n"                                                         /* 17 */
    "}\n"                                                                     /* 18 */
    "static int order(const void *a, const void *b)\n"                        /* 19 */
    "{\n"                                                                     /* 20 */
    "    return *(const int *)a - *(const int *)b;\n"                         /* 21 */
    "}\n"                                                                     /* 22 */
    "extern \"C\" int library(int *p, int n, const int *q)\n"                 /* 23 */
    "{\n"                                                                     /* 24 */
    "    if (!q) qsort(p, n, 4, order);\n"                                    /* 25 */
    "    return q ? memcmp(p, q, 4 * n) : 0;\n"                               /* 26 */
    "}\n"                                                                     /* 27 */
    "extern \"C\" size_t length(const char *p)\n"                             /* 28 */
    "{\n"                                                                     /* 29 */
    "    return strlen(p);\n"                                                 /* 30 */
    "}\n"                                                                     /* 31 */
    "extern \"C\" void threads(int *p, int each)\n"                           /* 32 */
    "{\n"                                                                     /* 33 */
    "    std::vector<std::thread> all;\n"                                     /* 34 */
    "    for (int t = 0; t < 4; t++)\n"                                       /* 35 */
    "        all.emplace_back([=] {\n"                                        /* 36 */
    "            for (int i = 0; i < each; i++) p[i * 4 + t] += t + 1; });\n" /* 37 */
    "    for (auto &t : all) t.join();\n"                                     /* 38 */
    "}\n"                                                                     /* 39 */
    "extern \"C\" int deep(int n)\n"                                          /* 40 */
    "{\n"                                                                     /* 41 */
    "    volatile char room[1000];\n"                                         /* 42 */
    "    room[n % 1000] = 1;\n"                                               /* 43 */
    "    return n ? deep(n - 1) + room[3] : 0;\n"                             /* 44 */
    "}\n"                                                                     /* 45 */
    "extern \"C\" void trap() { __builtin_trap(); }\n"                        /* 46 */
    "extern \"C\" void wide(int *to, const int *from)\n"                      /* 47 */
    "{\n"                                                                     /* 48 */
    "    memmove(to, from, 32);\n"                                            /* 49 */
    "}\n";                                                                    /* 50 */

static struct {
    char *folder;
    int (*get)(volatile int *p);
    void (*put)(volatile int *p, int value);
    long (*sum)(const int *p, int n);
    int (*library)(int *p, int n, const int *q);
    size_t (*length)(const char *p);
    void (*threads)(int *p, int each);
    int (*deep)(int n);
    void (*trap)(void);
    void (*wide)(int *to, const int *from);
} student;

static struct sigaction on_fault, on_step;

/* cmocka takes the signals for itself before each test; the guard has them before all tests. */
static int take_signals(void **state)
{
    (void)state;
    sigaction(SIGSEGV, &on_fault, NULL);
    sigaction(SIGTRAP, &on_step, NULL);
    return 0;
}

static int build(void **state)
{
    (void)state;
    struct err err = {0};
    struct process process;
    struct process_result result;
    student.folder = scratch_make(&err);
    assert_non_null(student.folder);
    char *file = path_join(student.folder, "kernel.cu"),
         *object = path_join(student.folder, "yours.so"),
         *table = path_join(student.folder, "yours.lines");
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
    assert_true(process_start(&process, argv, student.folder, -1, NULL, &err));
    assert_true(process_finish(&process, &result, 60000, &err));
    if (result.status != 0)
        fail_msg("%s", buf_str(&result.text));
    process_result_free(&result);
    if (!host_lines_write(object, "kernel.cu", table, &err) || !lines_load(table, &err))
        fail_msg("%s", err.text);
    void *handle = dlopen(object, RTLD_NOW);
    assert_non_null(handle);
#define FIND(name) *(void **)&student.name = dlsym(handle, #name)
    FIND(get);
    FIND(put);
    FIND(sum);
    FIND(library);
    FIND(length);
    FIND(threads);
    FIND(deep);
    FIND(trap);
    FIND(wide);
#undef FIND
    assert_true(lines_attach((void *)student.get));
    free(file);
    free(object);
    free(table);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    file_remove_folder(student.folder);
    free(student.folder);
    return 0;
}

static void need(uint64_t operation, const void *at, size_t bytes, bool written, int line)
{
    guard_need(&(struct guard_need){.operation = operation,
                                    .at = at,
                                    .bytes = bytes,
                                    .written = written,
                                    .kind = written ? SPAN_D2H : SPAN_H2D,
                                    .line = line});
}

/* "line other_line count; ..." of what was found. */
static const char *found(void)
{
    static struct buf text;
    json_t *hazards = json_array();
    guard_take(hazards);
    buf_clear(&text);
    for (size_t i = 0; i < json_array_size(hazards); i++) {
        json_t *one = json_array_get(hazards, i);
        assert_string_equal(json_string_value(json_object_get(one, "kind")), "unordered");
        assert_true(json_string_length(json_object_get(one, "text")) > 20);
        buf_printf(&text, "%d %d %d;", (int)json_integer_value(json_object_get(one, "line")),
                   (int)json_integer_value(json_object_get(one, "other_line")),
                   (int)json_integer_value(json_object_get(one, "count")));
    }
    json_decref(hazards);
    return buf_str(&text);
}

static void an_access_in_flight_is_seen_and_goes_on(void **state)
{
    take_signals(state);
    int *p = guard_alloc(40000), *view = guard_view(p, 40000);
    assert_ptr_not_equal(p, view);
    p[100] = 5;
    assert_int_equal(view[100], 5);

    need(1, p, 20000, true, 70);
    view[100] = 6; /* the operation itself */
    assert_int_equal(student.get(&p[100]), 6);
    assert_string_equal(found(), "7 70 1;");
    student.put(&p[100], 7);
    assert_int_equal(view[100], 7);
    assert_int_equal(student.get(&p[0]), 0);
    student.put(&p[4999], 8);
    assert_int_equal(view[4999], 8);
    assert_string_equal(found(), "11 70 2;7 70 1;");
    student.get(&p[5000]); /* the same page, not the same bytes */
    student.put(&p[5000], 9);
    assert_string_equal(found(), "");
    guard_settle(1);
    student.put(&p[100], 1);
    assert_string_equal(found(), "");

    need(2, p, 20000, false, 71);
    assert_int_equal(student.get(&p[100]), 1); /* both may read */
    assert_string_equal(found(), "");
    student.put(&p[100], 2);
    assert_string_equal(found(), "11 71 1;");
    assert_int_equal(view[100], 2);
    assert_true(guard_free(p)); /* with what still needs it */
    assert_true(guard_idle());
    assert_false(guard_free(p));
}

static void loops_end_and_libraries_are_seen_through(void **state)
{
    take_signals(state);
    enum { N = 1 << 20 };
    int *p = guard_alloc(N * sizeof *p), *other = mem_zero(1000, sizeof *other);
    for (int i = 0; i < N; i++)
        p[i] = i;
    need(1, p, N * sizeof *p, true, 70);
    assert_int_equal(student.sum(p, N), (long)N * (N - 1) / 2);
    assert_memory_equal(found(), "16 70 ", 6);
    guard_settle_all();

    for (int i = 0; i < 1000; i++)
        p[i] = (i * 37) % 1000;
    need(1, p, 4000, true, 70);
    student.library(p, 1000, NULL);
    assert_memory_equal(found(), "21 70 ", 6); /* through libc and back */
    guard_settle_all();
    need(1, p, 4000, true, 70);
    assert_true(student.library(p, 1000, other) > 0);
    assert_memory_equal(found(), "26 70 ", 6); /* libc's instruction, the student's call */
    guard_settle_all();
    for (int i = 0; i < 1000; i++)
        assert_int_equal(p[i], i);
    guard_free(p);
    free(other);
}

/* Vector reads of libc go past what they were asked for; that is no access of the student's. */
static void reading_too_much_is_not_blamed(void **state)
{
    take_signals(state);
    char *p = guard_alloc(8192);
    for (size_t from = 1; from < 80; from++)
        for (size_t len = 0; len < 80; len++) {
            memset(p, 'x', 300);
            p[from + len] = 0;
            need(1, p, from, true, 70);
            need(2, p + from + len + 1, 100, true, 71);
            assert_int_equal(student.length(p + from), len);
            guard_settle_all();
        }
    assert_string_equal(found(), "");
    guard_free(p);
}

static void threads_may_step_at_once(void **state)
{
    take_signals(state);
    enum { EACH = 2000 };
    int *p = guard_alloc(EACH * 16 + 64);
    /* Every page is closed for the sake of bytes that no thread touches. */
    need(1, p + EACH * 4, 64, true, 70);
    for (size_t page = 0; page + 4096 < EACH * 16; page += 4096)
        need(2, (char *)p + page, 0, true, 71);
    student.threads(p, EACH);
    assert_string_equal(found(), "");
    guard_settle_all();
    need(3, p, EACH * 16, true, 72);
    student.threads(p, EACH);
    assert_memory_equal(found(), "37 72 ", 6);
    guard_settle_all();
    for (int i = 0; i < EACH * 4; i++)
        assert_int_equal(p[i], 2 * (i % 4 + 1));
    guard_free(p);
}

static void stride_itself_is_not_the_student(void **state)
{
    take_signals(state);
    volatile int *p = guard_alloc(64);
    need(1, (const void *)p, 64, true, 70);
    p[3] = 4;
    assert_int_equal(p[3], 4);
    assert_string_equal(found(), "");
    guard_free((void *)p);
}

static void a_range_is_seen_as_a_whole(void **state)
{
    take_signals(state);
    char *p = guard_alloc(9000);
    need(1, p + 1000, 1000, true, 70);
    need(2, p + 3000, 1000, false, 71);
    guard_touch(p, 1000, true, 5);
    guard_touch(p + 2000, 1000, true, 5);
    guard_touch(p + 2000, 1001, false, 5);
    assert_string_equal(found(), "");
    guard_touch(p + 2000, 1001, true, 6);
    guard_touch(p + 999, 2, false, 7);
    guard_touch(p, 9000, true, 8);
    assert_string_equal(found(), "6 71 1;7 70 1;8 70 1;8 71 1;");
    guard_settle_all();
    guard_free(p);
}

static void registered_memory_is_watched_inside(void **state)
{
    take_signals(state);
    char *memory = mem_zero(1, 6 * 4096), *odd = memory + 100;
    assert_true(guard_register(odd, 5 * 4096));
    assert_false(guard_register(odd + 50, 10));
    assert_ptr_equal(guard_view(odd, 100), odd);
    need(1, odd, 5 * 4096, true, 70);
    int *middle = (int *)(((uintptr_t)odd + 2 * 4096) & ~(uintptr_t)4095);
    student.put(middle, 3);
    assert_string_equal(found(), "11 70 1;");
    int *view = guard_view(middle, 8);
    assert_int_equal(view[0], 3);
    assert_true(guard_unregister(odd));
    assert_false(guard_unregister(odd));
    student.put(middle, 4);
    assert_string_equal(found(), "");
    free(memory);
}

/* How a child ends that does this. */
static int end_of(void (*what)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGILL, SIG_DFL);
        alarm(20);
        what();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void null_read(void)
{
    student.get(NULL);
}

static void past_the_end(void)
{
    char *p = guard_alloc(100);
    guard_free(p);
    student.get((int *)p);
}

static void too_deep(void)
{
    student.deep(1 << 20);
}

static void sent(void)
{
    raise(SIGSEGV);
}

static void trap_sent(void)
{
    raise(SIGTRAP);
}

static void trapped(void)
{
    student.trap();
}

static void jump_to_data(void)
{
    void *p = guard_alloc(100);
    need(1, p, 100, true, 70);
    void (*function)(void);
    memcpy(&function, &p, sizeof p);
    function();
}

static void a_crash_stays_one(void **state)
{
    take_signals(state);
    assert_int_equal(end_of(null_read), SIGSEGV);
    assert_int_equal(end_of(past_the_end), SIGSEGV);
    assert_int_equal(end_of(too_deep), SIGSEGV);
    assert_int_equal(end_of(sent), SIGSEGV);
    assert_int_equal(end_of(trap_sent), SIGTRAP);
    assert_int_equal(end_of(trapped), SIGILL);
    assert_int_equal(end_of(jump_to_data), SIGSEGV);
}

/* Programs that are right, at random: operations come and go, the host touches only what none of
 * them bars. No report may come, and no byte may be lost. */
static void right_programs_are_never_blamed(void **state)
{
    take_signals(state);
    enum { WORDS = 6000, LIVE = 12 };
    uint64_t random = 88172645463325252u;
    int *p = guard_alloc(WORDS * sizeof *p), *want = mem_zero(WORDS, sizeof *want);
    struct {
        int from, to;
        bool written;
    } live[LIVE] = {{0}};
    for (uint64_t turn = 0; turn < 30000; turn++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        int slot = (int)((random >> 8) % LIVE), at = (int)((random >> 20) % WORDS);
        if ((random & 7) == 0 && live[slot].to) {
            guard_settle((uint64_t)slot);
            live[slot].to = 0;
        } else if ((random & 7) == 1 && !live[slot].to) {
            int most = WORDS - at < 2000 ? WORDS - at : 2000;
            live[slot].from = at;
            live[slot].to = at + 1 + (int)((random >> 40) % (unsigned)most);
            live[slot].written = random >> 63;
            need((uint64_t)slot, p + at, (size_t)(live[slot].to - at) * sizeof *p,
                 live[slot].written, 70);
        } else {
            bool may_read = true, may_write = true;
            for (int i = 0; i < LIVE; i++)
                if (at >= live[i].from && at < live[i].to) {
                    may_write = false;
                    may_read &= !live[i].written;
                }
            if (may_write && random >> 62) {
                want[at] = (int)turn;
                student.put(&p[at], (int)turn);
            } else if (may_read) {
                assert_int_equal(student.get(&p[at]), want[at]);
            }
        }
    }
    assert_string_equal(found(), "");
    guard_settle_all();
    assert_memory_equal(p, want, WORDS * sizeof *p);
    guard_free(p);
    free(want);
}

int main(void)
{
    signal(SIGSEGV, SIG_DFL); /* not the sanitizer's, which makes an exit of a crash */
    guard_free(guard_alloc(1));
    sigaction(SIGSEGV, NULL, &on_fault);
    sigaction(SIGTRAP, NULL, &on_step);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_in_flight_is_seen_and_goes_on),
        cmocka_unit_test(loops_end_and_libraries_are_seen_through),
        cmocka_unit_test(reading_too_much_is_not_blamed),
        cmocka_unit_test(threads_may_step_at_once),
        cmocka_unit_test(stride_itself_is_not_the_student),
        cmocka_unit_test(a_range_is_seen_as_a_whole),
        cmocka_unit_test(registered_memory_is_watched_inside),
        cmocka_unit_test(a_crash_stays_one),
        cmocka_unit_test(right_programs_are_never_blamed),
    };
    return cmocka_run_group_tests(tests, build, tear_down);
}
