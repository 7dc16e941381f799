/* The simulated runtime's error codes, call by call, are those of tests/gpu/host_codes.txt and
 * capture_codes.txt, which a GPU's runtime is asked for by tests/gpu/check_host_codes.
 * Both lists are an H200's own answers (CUDA 13.0); STRIDE_REBASE=1 writes what the simulator says
 * into the first, to be held against a GPU. */
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
#define CAPTURE_STATUS        int
#define CALL_STATUS           int
#define CAPTURE_LAUNCH(s, p)  run_add((p), 32, (s))
#include "tests/gpu/capture_codes.inc"
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
    buf_free(&said);
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

static void note_line(const char *line)
{
    buf_printf(&said, "%s\n", line);
}

/* One line after the other, so that the first one that differs is what is shown. */
static void captures_answer_as_hardware_does(void **state)
{
    struct buf want = {0};
    struct err err = {0};
    char *rest_said, *rest_want;
    (void)state;
    buf_free(&said);
    capture_codes(note_line);
    assert_true(file_read(&want, "tests/gpu/capture_codes.txt", 1 << 16, &err));
    char *line = strtok_r(said.data, "\n", &rest_said);
    char *wanted = strtok_r(want.data, "\n", &rest_want);
    for (; line && wanted; line = strtok_r(NULL, "\n", &rest_said)) {
        assert_string_equal(line, wanted);
        wanted = strtok_r(NULL, "\n", &rest_want);
    }
    assert_true(!line && !wanted);
    buf_free(&want);
    buf_free(&said);
    host_sim_take();
    assert_string_equal(host_sim_found.cannot, "");
    sim_report_free(&host_sim_found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes),
                                       cmocka_unit_test(captures_answer_as_hardware_does)};
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}
