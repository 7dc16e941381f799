#include "harness/base/file.h"
#include "harness/host/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const source[] = {
    "float *d_in;",                                             /* 1 */
    "    CHECK(cudaMalloc(&d_in, n * sizeof(float)));",         /* 2 */
    "cudaMallocHost((void **)&work->input, bytes);",            /* 3 */
    "cudaMallocAsync(&lane.to[i], bytes, stream);",             /* 4 */
    "cudaHostAlloc(",                                           /* 5 */
    "    reinterpret_cast<void **>(&state->staging), bytes, 0", /* 6 */
    ");",                                                       /* 7 */
    "cudaMalloc(pick(a, b), bytes);",                           /* 8 */
    "int x = 3;",                                               /* 9 */
    "",                                                         /* 10 */
    "",                                                         /* 11 */
    "",                                                         /* 12 */
    "cudaHostRegister(work->plain, bytes, 0); cudaMalloc(",     /* 13 */
};

static const char *name(int line)
{
    static char out[48];
    return names_find(line, out, sizeof out) ? out : NULL;
}

static void names_in_a_source(void **state)
{
    char path[] = "/tmp/stride-names-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof source / sizeof source[0]; i++) {
        assert_true(write(fd, source[i], strlen(source[i])) == (ssize_t)strlen(source[i]));
        assert_true(write(fd, "\n", 1) == 1);
    }
    close(fd);
    assert_null(name(2));
    assert_true(names_load(path, NULL));
    unlink(path);
    assert_string_equal(name(2), "d_in");
    assert_string_equal(name(3), "work->input");
    assert_string_equal(name(4), "lane.to[i]");
    assert_string_equal(name(5), "state->staging");
    assert_null(name(8));
    assert_null(name(9));
    assert_string_equal(name(13), "work->plain");
    assert_null(name(14));
    assert_null(name(0));
    assert_null(name(-4));
    assert_null(name(100000));
    assert_false(names_load("/nowhere/kernel.cu", NULL));
    assert_null(name(2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_in_a_source)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
