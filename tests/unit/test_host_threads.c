/* The student's host code in virtual time: each thread has its own, starting and joining threads
 * orders it, and copying memory takes some without ever changing what is copied. */
#include "harness/host/runtime.h"
#include "harness/host/sim_clock.h"
#include "harness/host/sim_guard.h"
#include "harness/host/sim_host.h"

#include "harness/base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 125000, THREADS = 4 };

static struct runtime runtime;
static char *to, *from;

/* A process has one runtime; here each test opens it anew, and the one before is left behind. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

static int set_up(void **state)
{
    (void)state;
    sim_open_runtime(&runtime, &(struct sim_options){.seed = 1, .threads = 1});
    sim_host_open();
    to = mem_zero(1, BYTES);
    from = mem_zero(1, BYTES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(to);
    free(from);
    return 0;
}

static double now_us(void)
{
    struct timespec now;
    host_read_clock(&now, false);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static const double copy_us = BYTES / CLOCK_HOST_COPY_RATE;

static bool about(double found, double want)
{
    return fabs(found - want) < want / 100 + 1;
}

static void copying_takes_time(void **state)
{
    (void)state;
    double before = now_us();
    memset(from, 7, BYTES);
    assert_ptr_equal(host_move(to, from, BYTES, __builtin_frame_address(0)), to);
    assert_memory_equal(to, from, BYTES);
    assert_true(about(now_us() - before, copy_us));
    before = now_us();
    assert_ptr_equal(host_set(to, 3, BYTES, __builtin_frame_address(0)), to);
    assert_int_equal(to[BYTES - 1], 3);
    assert_true(about(now_us() - before, copy_us));
    before = now_us();
    host_pass(500);
    assert_true(about(now_us() - before, 500));
}

static void a_loop_that_waits_for_a_time_ends(void **state)
{
    (void)state;
    double until = now_us() + 1000;
    long turns = 0;
    while (now_us() < until)
        turns++;
    assert_in_range(turns, 1000, 1000000);
}

/* What override.c does for the student's pthread_create. */
static pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t id;
    struct host_thread *thread = host_thread_new(function, argument);
    assert_int_equal(pthread_create(&id, NULL, host_thread_run, thread), 0);
    host_thread_started(thread, id);
    return id;
}

static void join(pthread_t id)
{
    assert_int_equal(pthread_join(id, NULL), 0);
    host_thread_joined(id);
}

static void *copy_part(void *part)
{
    size_t first = (size_t)(uintptr_t)part * (BYTES / THREADS);
    host_move(to + first, from + first, BYTES / THREADS, __builtin_frame_address(0));
    return NULL;
}

static void *wait_in_stream(void *stream)
{
    runtime.cudaStreamSynchronize(stream);
    return NULL;
}

static void *nothing(void *unused)
{
    return unused;
}

static void threads_that_copy_do_it_at_once(void **state)
{
    (void)state;
    pthread_t ids[THREADS];
    double before = now_us();
    memset(from, 9, BYTES);
    for (uintptr_t i = 0; i < THREADS; i++)
        ids[i] = start(copy_part, (void *)i);
    assert_true(now_us() - before < copy_us / 10); /* the starter goes on */
    for (int i = 0; i < THREADS; i++)
        join(ids[i]);
    assert_true(about(now_us() - before, copy_us / THREADS));
    assert_memory_equal(to, from, BYTES);
    join(start(nothing, NULL)); /* an empty one takes no time away */
    assert_true(about(now_us() - before, copy_us / THREADS));
}

static void a_thread_that_waits_for_the_device_waits_alone(void **state)
{
    (void)state;
    void *stream, *device, *pinned;
    assert_int_equal(runtime.cudaStreamCreate(&stream), 0);
    assert_int_equal(runtime.cudaMalloc(&device, BYTES), 0);
    assert_int_equal(runtime.cudaMallocHost(&pinned, BYTES), 0);
    assert_int_equal(runtime.cudaMemcpyAsync(device, pinned, BYTES, 1, stream), 0);
    double before = now_us();
    pthread_t id = start(wait_in_stream, stream);
    assert_true(now_us() - before < 10);
    join(id);
    assert_true(now_us() - before > BYTES / CLOCK_PINNED_RATE / 2);
    assert_int_equal(runtime.cudaFreeHost(pinned), 0);
}

static void *copy_and_signal(void *condition)
{
    host_move(to, from, BYTES, __builtin_frame_address(0));
    host_signalled(condition);
    host_pass(5000);
    return NULL;
}

static void who_is_woken_has_waited(void **state)
{
    (void)state;
    static _Alignas(16) char conditions[32]; /* neighbours never share a place */
    void *done = conditions, *other = conditions + 16;
    double before = now_us();
    pthread_t id = start(copy_and_signal, done);
    assert_int_equal(pthread_join(id, NULL),
                     0); /* the real thread; virtual time knows of no join */
    host_woken(other);
    assert_true(now_us() - before < 10);
    host_woken(done);
    assert_true(about(now_us() - before, copy_us));
    host_thread_joined(id);
    assert_true(about(now_us() - before, copy_us + 5000));
}

static void memory_in_flight_is_copied_all_the_same(void **state)
{
    (void)state;
    char *p = guard_alloc(BYTES), *view = guard_view(p, BYTES);
    for (int i = 0; i < BYTES; i++)
        p[i] = (char)i;
    memcpy(from, p, BYTES);
    guard_need(&(struct guard_need){.operation = 1, .at = p, .bytes = BYTES, .written = true});
    host_move(to, p, BYTES, __builtin_frame_address(0));
    assert_memory_equal(to, from, BYTES);
    host_move(p + 5000, p, BYTES - 5000, __builtin_frame_address(0)); /* onto itself */
    assert_memory_equal(view, from, 5000);
    assert_memory_equal(view + 5000, from, BYTES - 5000);
    host_set(p + 10, 1, 10, __builtin_frame_address(0));
    assert_int_equal(view[19], 1);
    assert_int_equal(view[20], 20);
    assert_true(guard_free(p));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(copying_takes_time),
        TEST(a_loop_that_waits_for_a_time_ends),
        TEST(threads_that_copy_do_it_at_once),
        TEST(a_thread_that_waits_for_the_device_waits_alone),
        TEST(who_is_woken_has_waited),
        TEST(memory_in_flight_is_copied_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
