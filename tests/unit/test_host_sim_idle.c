/* A host that waits for a host function without asking the runtime. */
#include "host_sim.h"

#include "harness/host/sim.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_int set[2];

static void raise_flag(void *flag)
{
    atomic_store((atomic_int *)flag, 1);
}

static int setup(void **state)
{
    (void)state;
    atomic_store(&set[0], 0);
    atomic_store(&set[1], 0);
    return 0;
}

static double now_us(void)
{
    sim_lock();
    double us = sim.now_us;
    sim_unlock();
    return us;
}

/* Reused as soon as the flag is up: that was a wait for the copy in front of the host function. */
static void a_flag_that_the_host_spins_on(void **state)
{
    void *x = device_new(4), *s = stream_new(1);
    uint32_t *buffer = pinned_new(4), got[2];
    double before;
    (void)state;
    *buffer = 5;
    OK(1, cudaMemcpyAsync(x, buffer, 4, TO_DEVICE, s));
    OK(2, cudaLaunchHostFunc(s, raise_flag, &set[0]));
    before = now_us();
    while (!atomic_load(&set[0])) {
    }
    *buffer = 6;
    OK(3, cudaMemcpyAsync(&got[0], x, 4, TO_HOST, s));
    assert_true(now_us() > before + 1); /* the copy has taken its time */
    OK(4, cudaMemcpyAsync(x, buffer, 4, TO_DEVICE, s));
    OK(5, cudaMemcpyAsync(&got[1], x, 4, TO_HOST, s));
    OK(6, cudaStreamSynchronize(s));
    assert_int_equal(got[0], 5);
    assert_int_equal(got[1], 6);
    OK(7, cudaFree(x));
    OK(8, cudaFreeHost(buffer));
    OK(9, cudaStreamDestroy(s));
    assert_clean();
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void tell(void *flag)
{
    pthread_mutex_lock(&mutex);
    raise_flag(flag);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static void a_condition_that_the_host_sleeps_on(void **state)
{
    void *s = stream_new(0);
    (void)state;
    for (int i = 0; i < 2; i++) {
        OK(1, cudaLaunchHostFunc(s, tell, &set[i]));
        pthread_mutex_lock(&mutex);
        while (!atomic_load(&set[i]))
            pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    OK(2, cudaStreamDestroy(s));
    assert_clean();
}

/* What is behind the first host function stays undone, and what is not waited for is seen. */
static void one_at_a_time(void **state)
{
    void *x = device_new(8), *s = stream_new(1);
    uint32_t *buffer = pinned_new(8);
    (void)state;
    sim_lock(); /* only this thread runs them here */
    OK(1, cudaMemcpyAsync(x, buffer, 4, TO_DEVICE, s));
    OK(2, cudaLaunchHostFunc(s, raise_flag, &set[0]));
    OK(3, cudaMemcpyAsync(buffer + 1, x, 4, TO_HOST, s));
    OK(4, cudaLaunchHostFunc(s, raise_flag, &set[1]));
    assert_true(sim_finish_host_function());
    assert_int_equal(atomic_load(&set[0]), 1);
    assert_int_equal(atomic_load(&set[1]), 0);
    OK(5, cudaFreeHost(buffer)); /* the second copy may still be writing it */
    assert_int_equal(atomic_load(&set[1]), 1);
    assert_false(sim_finish_host_function());
    sim_unlock();
    OK(6, cudaFree(x));
    OK(7, cudaStreamDestroy(s));
    host_sim_take();
    assert_int_equal(json_array_size(host_sim_found.hazards), 1);
    sim_report_free(&host_sim_found);
    calls_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_flag_that_the_host_spins_on, setup),
        cmocka_unit_test_setup(a_condition_that_the_host_sleeps_on, setup),
        cmocka_unit_test_setup(one_at_a_time, setup)};
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}
