/* Dynamic symbols of an object: those of this very program, and of bytes that are none. */
#include "harness/base/file.h"
#include "harness/host/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    bool needs_getenv, defines_getenv;
    int count;
};

static void look(void *context, const char *name, bool defined)
{
    struct seen *seen = context;
    bool is_getenv = strncmp(name, "getenv", 6) == 0;
    seen->needs_getenv |= is_getenv && !defined;
    seen->defines_getenv |= is_getenv && defined;
    seen->count++;
}

static void what_a_program_needs_is_seen(void **state)
{
    (void)state;
    struct buf bytes = {0};
    struct err err = {0};
    struct seen seen = {0};
    assert_true(getenv("PATH") != NULL || true); /* so that it is needed */
    if (!file_read(&bytes, "/proc/self/exe", 256 << 20, &err))
        fail_msg("%s", err.text);
    if (!symbols_each(bytes.data, bytes.len, look, &seen, &err))
        fail_msg("%s", err.text);
    assert_true(seen.needs_getenv);
    assert_false(seen.defines_getenv);
    assert_true(seen.count > 10);
    bytes.data[0] = 'x';
    assert_false(symbols_each(bytes.data, bytes.len, look, &seen, &err));
    assert_false(symbols_each("", 0, look, &seen, &err));
    buf_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_program_needs_is_seen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
