/* Two streams of the simulated runtime under test, with an event, device memory and pinned memory.
 *
 * Each test has them anew, between setup and teardown, which finds what it left behind.
 *
 * Nothing here knows what is right. */
#ifndef STRIDE_TESTS_HOST_STREAMS_H
#define STRIDE_TESTS_HOST_STREAMS_H

#include "host_sim.h"

enum { N = 1024, BYTES = N * 4 };

struct fixture {
    void *a, *b;     /* streams, non-blocking */
    void *ready;     /* an event */
    void *x, *y;     /* device memory, written all over */
    uint32_t *h, *g; /* pinned memory */
};

static struct fixture f;

static inline int setup(void **state)
{
    (void)state;
    f = (struct fixture){.a = stream_new(NON_BLOCKING),
                         .b = stream_new(NON_BLOCKING),
                         .ready = event_new(),
                         .x = device_new(BYTES),
                         .y = device_new(BYTES),
                         .h = pinned_new(BYTES),
                         .g = pinned_new(BYTES)};
    uint32_t one = 1;
    for (uint32_t i = 0; i < N; i++)
        f.h[i] = i;
    memset(f.g, 0, BYTES);
    assert_int_equal(cudaMemcpyToSymbol(&variable_factor, &one, 4, 0, TO_DEVICE), 0);
    assert_int_equal(cudaMemcpy(f.x, f.h, BYTES, TO_DEVICE), 0);
    assert_int_equal(cudaMemcpy(f.y, f.h, BYTES, TO_DEVICE), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    calls_reset();
    host_sim_take();
    return 0;
}

static inline int teardown(void **state)
{
    (void)state;
    cudaDeviceSynchronize();
    cudaFree(f.x);
    cudaFree(f.y);
    cudaFreeHost(f.h);
    cudaFreeHost(f.g);
    cudaStreamDestroy(f.a);
    cudaStreamDestroy(f.b);
    cudaEventDestroy(f.ready);
    host_sim_take();
    sim_report_free(&host_sim_found);
    return calls_live(NULL, 0) != 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
