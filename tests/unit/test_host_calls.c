/* The call log: what is alive, what made the host wait, errors of each thread, and their words. */
#include "host_sim.h"

#include <pthread.h>

static void what_is_alive(void **state)
{
    struct live_resource live[8];
    size_t before = calls_live(NULL, 0);
    void *stream = stream_new(0), *x = device_new(4), *h = pinned_new(4), *e = event_new();
    (void)state;
    assert_int_equal(calls_live(live, 8), before + 4);
    assert_int_equal(live[before].kind, RESOURCE_STREAM);
    assert_ptr_equal(live[before].handle, stream);
    assert_int_equal(live[before + 2].kind, RESOURCE_PINNED_MEMORY);
    assert_non_null(live[before].site);
    cudaStreamDestroy(stream);
    cudaFree(x);
    cudaFreeHost(h);
    assert_int_equal(calls_live(live, 8), before + 1);
    cudaEventDestroy(e);
    assert_int_equal(calls_live(live, 8), before);
    cudaEventDestroy(e);
    assert_int_equal(calls_live(live, 8), before);
    calls_reset();
    cudaGetLastError();
}

static void what_blocks(void **state)
{
    void *x = device_new(64), *s = stream_new(0);
    char host[64] = {0};
    (void)state;
    calls_reset();
    OK(1, cudaMemcpyAsync(x, host, 64, TO_DEVICE, s));
    OK(2, cudaStreamQuery(NULL) == 600 ? 0 : 0);
    assert_int_equal(calls_blocking(), 0);
    OK(3, cudaStreamSynchronize(s));
    OK(4, cudaMemcpy(x, host, 64, TO_DEVICE));
    assert_int_equal(calls_blocking(), 2);
    assert_int_equal(calls_count(API_cudaMemcpy), 1);
    calls_reset();
    assert_int_equal(calls_blocking(), 0);
    OK(5, cudaFree(x));
    OK(6, cudaStreamDestroy(s));
    assert_clean();
}

static void *call_from_a_thread(void *x)
{
    for (int i = 0; i < 200; i++) {
        void *s = stream_new(NON_BLOCKING);
        cudaMemsetAsync(x, i, 64, s);
        cudaStreamSynchronize(s);
        cudaStreamDestroy(s);
        cudaStreamDestroy(s); /* its own last error */
        if (cudaGetLastError() != 400 || cudaGetLastError() != 0)
            return "last errors are mixed up";
    }
    return NULL;
}

static void threads(void **state)
{
    pthread_t ids[4];
    void *x[4], *trouble;
    (void)state;
    for (int i = 0; i < 4; i++) {
        x[i] = device_new(64);
        assert_int_equal(pthread_create(&ids[i], NULL, call_from_a_thread, x[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(ids[i], &trouble);
        assert_null(trouble);
        OK(1, cudaFree(x[i]));
    }
    assert_int_equal(calls_live(NULL, 0), 0);
    calls_reset();
    assert_clean();
}

static void errors_have_words(void **state)
{
    (void)state;
    assert_string_equal(cudaGetErrorName(906), "cudaErrorStreamCaptureImplicit");
    assert_string_equal(cudaGetErrorString(1), "invalid argument");
    assert_string_equal(cudaGetErrorName(-7), "unrecognized error code");
    assert_non_null(strstr(cuda_error_meaning(906), "cudaStreamNonBlocking"));
    assert_true(api_known("cudaMemcpyAsync_ptsz"));
    assert_string_equal(api_spoken(API_cudaMemcpyAsync_ptsz), "cudaMemcpyAsync");
    assert_string_equal(api_spoken(API___cudaLaunchKernel_ptsz), "cudaLaunchKernel");
    assert_string_equal(api_spoken(API_cudaMemcpy), "cudaMemcpy");
    assert_false(api_known("cudaBindTexture"));
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, host_sim_settle)
    const struct CMUnitTest tests[] = {
        T(what_is_alive),
        T(what_blocks),
        T(threads),
        T(errors_have_words),
    };
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}
