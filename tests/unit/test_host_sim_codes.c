/* The simulated runtime's error codes, call by call, are those of tests/gpu/host_codes.txt, which a
 * GPU's runtime was asked for (tests/gpu/check_host_codes). STRIDE_REBASE=1 writes what it says
 * now. */
#include "host_sim.h"

#include <unistd.h>

typedef void *handle;

#define STREAM                handle
#define EVENT                 handle
#define GRAPH                 handle
#define EXEC                  handle
#define KIND(n)               (n)
#define MODE(n)               (n)
#define DEVICE_ATTRIBUTE(n)   (n)
#define FUNCTION_ATTRIBUTE(n) (n)
#define DIM(x, y, z)          ((struct dim3){(x), (y), (z)})
#define KERNEL_ADD            (&kernel_add)
#define KERNEL_BOUND          (&kernel_bound)
#include "tests/gpu/host_codes.inc"

static struct buf said;

static void note(const char *name, int code)
{
    buf_printf(&said, "%s %d\n", name, code);
}

static void codes(void **state)
{
    static const char path[] = "tests/gpu/host_codes.txt";
    struct buf want = {0};
    struct err err = {0};
    (void)state;
    host_codes(note);
    if (getenv("STRIDE_REBASE")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(buf_str(&said), file);
        assert_int_equal(fclose(file), 0);
    }
    assert_true(file_read(&want, path, 1 << 16, &err));
    assert_string_equal(buf_str(&said), buf_str(&want));
    buf_free(&want);
    buf_free(&said);
    host_sim_take();
    sim_report_free(&host_sim_found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes)};
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}
