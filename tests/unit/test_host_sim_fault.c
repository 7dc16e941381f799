/* Kernels that fail: what the runtime says then, and from then on. */
#include "host_sim.h"

#include "harness/host/sim.h"

/* A real context stays lost; here the next test gets a fresh one. */
static int teardown(void **state)
{
    (void)state;
    sim.sticky = 0;
    cudaGetLastError();
    cudaDeviceSynchronize();
    calls_reset();
    host_sim_take();
    sim_report_free(&host_sim_found);
    return 0;
}

static void everything_fails_afterwards(void **state)
{
    struct failed_call failed;
    void *x = AT(20, device_new(64)), *other;
    (void)state;
    OK(21, run_store(x, 16, NULL)); /* the launch itself is fine */
    OK(22, cudaGetLastError());
    assert_int_equal(AT(23, cudaDeviceSynchronize()), 700);
    assert_int_equal(cudaMalloc(&other, 4), 700);
    assert_int_equal(cudaGetLastError(), 700);
    assert_int_equal(cudaGetLastError(), 700);
    assert_true(calls_first_failure(&failed));
    assert_int_equal(failed.api, API_cudaDeviceSynchronize);
    host_sim_take();
    assert_string_equal(host_sim_found.fault_kind, "out-of-bounds");
    assert_non_null(strstr(host_sim_found.fault, "kernel store, launched in line 21"));
    assert_non_null(strstr(host_sim_found.fault, "the memory of line 20, which has 64 bytes"));
    sim.sticky = 0;
    OK(24, cudaFree(x));
}

static void memory_freed_before(void **state)
{
    void *x = AT(30, device_new(64));
    (void)state;
    OK(31, cudaFree(x));
    OK(32, run_store(x, 3, NULL));
    assert_int_equal(cudaDeviceSynchronize(), 700);
    host_sim_take();
    assert_non_null(strstr(host_sim_found.fault, "the memory of line 30"));
    assert_non_null(strstr(host_sim_found.fault, "given back in line 31"));
}

static void null_and_crooked(void **state)
{
    char *x = device_new(64);
    (void)state;
    OK(1, run_store(NULL, 3, NULL));
    assert_int_equal(cudaDeviceSynchronize(), 700);
    host_sim_take();
    assert_string_equal(host_sim_found.fault_kind, "illegal-address");
    sim.sticky = 0;
    OK(2, run_store(x + 2, 3, NULL));
    assert_int_equal(cudaDeviceSynchronize(), 716);
    host_sim_take();
    assert_string_equal(host_sim_found.fault_kind, "misaligned");
    sim.sticky = 0;
    OK(3, cudaFree(x));
}

static void a_kernel_without_end(void **state)
{
    void *x = device_new(64), *args[] = {&x};
    struct dim3 one = {1, 1, 1};
    (void)state;
    OK(1, cudaMemset(x, 0, 64));
    OK(2, cudaLaunchKernel(&kernel_spin, one, one, args, 0, NULL));
    assert_int_equal(cudaDeviceSynchronize(), 702);
    host_sim_take();
    assert_string_equal(host_sim_found.fault_kind, "timed-out");
    sim.sticky = 0;
    OK(3, cudaFree(x));
}

static int status_seen;

static void note_status(void *stream, int status, void *user)
{
    (void)stream, (void)user;
    status_seen = status;
}

static void callbacks_hear_of_it(void **state)
{
    void *s = stream_new(0);
    (void)state;
    OK(1, run_store(NULL, 0, s));
    OK(2, cudaStreamAddCallback(s, note_status, NULL, 0));
    assert_int_equal(cudaStreamSynchronize(s), 700);
    assert_int_equal(status_seen, 700);
    sim.sticky = 0;
    OK(3, cudaStreamDestroy(s));
}

static void uninitialised_reads_have_a_kernel(void **state)
{
    void *x = AT(40, device_new(64));
    (void)state;
    OK(41, run_add(x, 16, NULL));
    OK(42, cudaFree(x));
    host_sim_take();
    assert_int_equal(hazards_of("uninitialised"), 1);
    assert_non_null(strstr(hazard_text(), "the memory of line 40"));
    assert_non_null(host_sim_found.counters);
    assert_true(json_integer_value(json_object_get(host_sim_found.counters, "bytes_read")) == 64);
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        T(everything_fails_afterwards),
        T(memory_freed_before),
        T(null_and_crooked),
        T(a_kernel_without_end),
        T(callbacks_hear_of_it),
        T(uninitialised_reads_have_a_kernel),
    };
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}
