/* What the simulated runtime takes for ordered and what not: each rule once broken and once kept.
 */
#include "host_streams.h"

#include "harness/host/sim_guard.h"

/* ---- two streams */

static void two_writes(void **state)
{
    (void)state;
    OK(10, run_add(f.x, N, f.a));
    OK(11, run_add(f.x, N, f.b));
    OK(12, cudaDeviceSynchronize());
    assert_hazard("unordered", 11, 10);
    assert_non_null(strstr(hazard_text(), "bytes 0 to 4095 of"));
    assert_non_null(strstr(hazard_text(), "kernel add in stream 2"));
    assert_non_null(strstr(hazard_text(), "cudaStreamWaitEvent"));
}

static void write_then_read(void **state)
{
    (void)state;
    OK(10, cudaMemcpyAsync(f.x, f.h, BYTES, TO_DEVICE, f.a));
    OK(11, run_move(f.y, f.x, N, f.b));
    OK(12, cudaDeviceSynchronize());
    assert_hazard("unordered", 11, 10);
}

static void read_then_write(void **state)
{
    (void)state;
    OK(10, cudaMemcpyAsync(f.g, f.x, BYTES, TO_HOST, f.a));
    OK(11, cudaMemsetAsync(f.x, 0, BYTES, f.b));
    OK(12, cudaDeviceSynchronize());
    assert_hazard("unordered", 11, 10);
}

static void found_although_the_first_was_waited_for(void **state)
{
    (void)state;
    OK(10, run_add(f.x, N, f.a));
    OK(11, run_add(f.x, N, f.b));
    OK(12, cudaStreamSynchronize(f.a));
    OK(13, cudaStreamSynchronize(f.b));
    assert_hazard("unordered", 11, 10);
}

static void an_event_orders(void **state)
{
    (void)state;
    OK(10, cudaMemcpyAsync(f.x, f.h, BYTES, TO_DEVICE, f.a));
    OK(11, cudaEventRecord(f.ready, f.a));
    OK(12, cudaStreamWaitEvent(f.b, f.ready, 0));
    OK(13, run_move(f.y, f.x, N, f.b));
    OK(14, cudaMemcpyAsync(f.g, f.y, BYTES, TO_HOST, f.b));
    OK(15, cudaStreamSynchronize(f.b));
    assert_clean();
    assert_int_equal(f.g[N - 1], N - 1);
}

static void the_host_orders(void **state)
{
    (void)state;
    OK(10, run_add(f.x, N, f.a));
    OK(11, cudaStreamSynchronize(f.a));
    OK(12, run_add(f.x, N, f.b));
    OK(13, cudaEventRecord(f.ready, f.b));
    OK(14, cudaEventSynchronize(f.ready));
    OK(15, run_add(f.x, N, f.a));
    OK(16, cudaDeviceSynchronize());
    assert_clean();
}

static void order_is_transitive(void **state)
{
    void *c = stream_new(0), *second = event_new();
    (void)state;
    OK(10, run_add(f.x, N, f.a));
    OK(11, cudaEventRecord(f.ready, f.a));
    OK(12, cudaStreamWaitEvent(f.b, f.ready, 0));
    OK(13, cudaEventRecord(second, f.b));
    OK(14, cudaStreamWaitEvent(c, second, 0));
    OK(15, run_add(f.x, N, c));
    OK(16, cudaDeviceSynchronize());
    OK(17, cudaStreamDestroy(c));
    OK(18, cudaEventDestroy(second));
    assert_clean();
}

static void reads_are_free(void **state)
{
    (void)state;
    OK(10, cudaMemcpyAsync(f.g, f.x, BYTES, TO_HOST, f.a));
    OK(11, run_move(f.y, f.x, N, f.b));
    OK(12, cudaDeviceSynchronize());
    assert_clean();
}

static void other_bytes_are_free(void **state)
{
    (void)state;
    OK(10, run_add(f.x, N / 2, f.a));
    OK(11, run_add((uint32_t *)f.x + N / 2, N / 2, f.b));
    OK(12, cudaDeviceSynchronize());
    assert_clean();
    OK(20, run_add(f.x, N / 2 + 1, f.a));
    OK(21, run_add((uint32_t *)f.x + N / 2, N / 2, f.b));
    OK(22, cudaDeviceSynchronize());
    assert_hazard("unordered", 21, 20);
    assert_non_null(strstr(hazard_text(), "bytes 2048 to 2051 of"));
}

static void atomics_do_not_disturb_one_another(void **state)
{
    (void)state;
    OK(10, run_count(f.x, f.a));
    OK(11, run_count(f.x, f.b));
    OK(12, cudaDeviceSynchronize());
    assert_clean();
    OK(20, run_count(f.x, f.a));
    OK(21, run_add(f.x, 1, f.b));
    OK(22, cudaDeviceSynchronize());
    assert_hazard("unordered", 21, 20);
}

static void neighbours_bytes_are_free(void **state)
{
    (void)state;
    char *second = (char *)f.x + 66;
    unsigned n = 66;
    void *args[] = {&f.x, &n}, *other[] = {&second, &n};
    struct dim3 one = {1, 1, 1}, block = {128, 1, 1};
    OK(10, cudaLaunchKernel(&kernel_bytes, one, block, args, 0, f.a));
    OK(11, cudaLaunchKernel(&kernel_bytes, one, block, other, 0, f.b));
    OK(12, cudaDeviceSynchronize());
    assert_clean();
    OK(20, cudaLaunchKernel(&kernel_bytes, one, block, args, 0, f.a));
    OK(21, cudaLaunchKernel(&kernel_bytes, one, block, args, 0, f.b));
    OK(22, cudaDeviceSynchronize());
    assert_hazard("unordered", 21, 20);
}

/* Kernels are followed by words, and read bytes here. */
static void bytes_that_are_read_are_free(void **state)
{
    char *second = (char *)f.x + 66;
    unsigned n = 66;
    void *args[] = {&f.y, &f.x, &n};
    struct dim3 one = {1, 1, 1}, block = {128, 1, 1};
    (void)state;
    OK(10, cudaLaunchKernel(&kernel_widen, one, block, args, 0, f.a));
    OK(11, cudaMemsetAsync(second, 0, 66, f.b));
    OK(12, cudaDeviceSynchronize());
    assert_clean();
    OK(20, cudaLaunchKernel(&kernel_widen, one, block, args, 0, f.a));
    OK(21, cudaMemsetAsync(second - 8, 0, 66, f.b));
    OK(22, cudaDeviceSynchronize());
    assert_hazard("unordered", 21, 20);
}

/* ---- events */

static void a_wait_before_the_record_is_none(void **state)
{
    (void)state;
    OK(10, cudaStreamWaitEvent(f.b, f.ready, 0));
    OK(11, run_add(f.x, N, f.a));
    OK(12, cudaEventRecord(f.ready, f.a));
    OK(13, run_add(f.x, N, f.b));
    OK(14, cudaDeviceSynchronize());
    assert_hazard("unordered", 13, 11);
}

static void a_wait_takes_the_newest_record(void **state)
{
    (void)state;
    OK(10, cudaEventRecord(f.ready, f.a));
    OK(11, cudaStreamWaitEvent(f.b, f.ready, 0));
    OK(12, run_add(f.x, N, f.a));
    OK(13, cudaEventRecord(f.ready, f.a)); /* the wait above is none for this one */
    OK(14, run_add(f.x, N, f.b));
    OK(15, cudaDeviceSynchronize());
    assert_hazard("unordered", 14, 12);
}

/* ---- default streams */

static void the_legacy_stream_orders_blocking_streams(void **state)
{
    void *c = stream_new(0), *d = stream_new(0);
    (void)state;
    OK(10, run_add(f.x, N, c));
    OK(11, run_add(f.x, N, NULL));
    OK(12, run_add(f.x, N, d));
    OK(13, run_add(f.x, N, (void *)1));
    OK(14, cudaDeviceSynchronize());
    OK(15, cudaStreamDestroy(c));
    OK(16, cudaStreamDestroy(d));
    assert_clean();
}

static void it_does_not_order_non_blocking_ones(void **state)
{
    (void)state;
    OK(10, run_add(f.x, N, f.a));
    OK(11, run_add(f.x, N, NULL));
    OK(12, cudaDeviceSynchronize());
    assert_hazard("unordered", 11, 10);
    assert_non_null(strstr(hazard_text(), "the default stream"));
    OK(20, run_add(f.x, N, NULL));
    OK(21, run_add(f.x, N, f.a));
    OK(22, cudaDeviceSynchronize());
    assert_hazard("unordered", 21, 20);
}

static void the_threads_own_stream_is_another(void **state)
{
    void *c = stream_new(0);
    unsigned n = N;
    void *args[] = {&f.x, &n};
    struct dim3 grid = {N / 128, 1, 1}, block = {128, 1, 1};
    (void)state;
    OK(10, cudaLaunchKernel_ptsz(&kernel_add, grid, block, args, 0, NULL));
    OK(11, run_add(f.x, N, c));
    OK(12, cudaDeviceSynchronize());
    assert_hazard("unordered", 11, 10);
    OK(20, cudaLaunchKernel_ptsz(&kernel_add, grid, block, args, 0, NULL));
    OK(21, run_add(f.x, N, NULL)); /* the legacy one waits for it */
    OK(22, run_add(f.x, N, (void *)2));
    OK(23, cudaDeviceSynchronize());
    OK(24, cudaStreamDestroy(c));
    assert_clean();
}

static void synchronising_with_the_legacy_stream_waits_for_blocking_ones(void **state)
{
    void *c = stream_new(0);
    (void)state;
    OK(10, run_add(f.x, N, c));
    OK(11, cudaStreamSynchronize(NULL));
    OK(12, run_add(f.x, N, f.a));
    OK(13, cudaDeviceSynchronize());
    OK(14, cudaStreamDestroy(c));
    assert_clean();
}

/* ---- the host's side */

static void host_memory_in_flight(void **state)
{
    (void)state;
    OK(10, cudaMemcpyAsync(f.x, f.h, BYTES, TO_DEVICE, f.a));
    guard_touch(f.h, 16, false, 11); /* reading what is only read */
    guard_touch(f.h, 16, true, 12);
    OK(13, cudaStreamSynchronize(f.a));
    guard_touch(f.h, 16, true, 14);
    assert_hazard("unordered", 12, 10);
    OK(20, cudaMemcpyAsync(f.g, f.x, BYTES, TO_HOST, f.a));
    OK(21, cudaStreamSynchronize(f.b)); /* another one */
    guard_touch(f.g, 16, false, 22);
    OK(23, cudaEventRecord(f.ready, f.a));
    OK(24, cudaEventSynchronize(f.ready));
    guard_touch(f.g, 16, false, 25);
    assert_hazard("unordered", 22, 20);
}

static void what_was_not_waited_for_is_not_there(void **state)
{
    (void)state;
    memset(f.g, 0xee, BYTES);
    OK(10, run_add(f.x, N, f.a));
    OK(11, cudaMemcpyAsync(f.g, f.x, BYTES, TO_HOST, f.a));
    OK(12, cudaStreamSynchronize(f.b));
    uint32_t *behind_the_guard = guard_view(f.g, BYTES);
    assert_int_equal(behind_the_guard[3], 0xeeeeeeee);
    OK(13, cudaStreamSynchronize(f.a));
    assert_int_equal(f.g[3], 4);
    assert_clean();
}

static void pinned_memory_is_read_late(void **state)
{
    (void)state;
    OK(10, cudaMemcpyAsync(f.x, f.h, BYTES, TO_DEVICE, f.a));
    uint32_t *behind_the_guard = guard_view(f.h, BYTES);
    behind_the_guard[0] = 77; /* too early */
    OK(11, cudaStreamSynchronize(f.a));
    OK(12, cudaMemcpy(f.g, f.x, BYTES, TO_HOST));
    host_sim_take();
    assert_int_equal(f.g[0], 77);
}

static void pageable_memory_is_staged(void **state)
{
    uint32_t plain[N];
    (void)state;
    memset(plain, 0, sizeof plain);
    OK(10, cudaMemcpyAsync(f.x, plain, BYTES, TO_DEVICE, f.a));
    plain[0] = 77; /* allowed: the bytes were taken */
    OK(11, run_add(f.x, N, f.a));
    OK(12, cudaMemcpyAsync(plain, f.x, BYTES, TO_HOST, f.a)); /* waits */
    assert_int_equal(plain[0], 1);
    assert_clean();
    assert_int_equal(host_sim_found.spans.items[0].pageable, 1);
}

static void memory_given_back_in_flight(void **state)
{
    void *x = device_new(64), *h = pinned_new(64);
    (void)state;
    OK(10, cudaMemcpyAsync(x, h, 64, TO_DEVICE, f.a));
    OK(11, cudaFreeHost(h));
    assert_hazard("unordered", 11, 10);
    OK(20, run_add(x, 16, f.a));
    OK(21, cudaFree(x)); /* waits for it */
    assert_clean();
}

static void stream_ordered_memory(void **state)
{
    void *x;
    (void)state;
    OK(10, cudaMallocAsync(&x, BYTES, f.a));
    OK(11, cudaMemcpyAsync(x, f.h, BYTES, TO_DEVICE, f.a));
    OK(12, cudaFreeAsync(x, f.a));
    OK(13, cudaStreamSynchronize(f.a));
    assert_clean();
    OK(20, cudaMallocAsync(&x, BYTES, f.a));
    OK(21, cudaMemcpyAsync(x, f.h, BYTES, TO_DEVICE, f.b)); /* may come before its allocation */
    OK(22, cudaStreamSynchronize(f.b));
    OK(23, cudaStreamSynchronize(f.a));
    OK(24, cudaFreeAsync(x, f.a));
    assert_hazard("unordered", 20, 21);
}

static void bytes_that_nobody_wrote(void **state)
{
    void *fresh = device_new(BYTES);
    (void)state;
    OK(10, cudaMemcpy(fresh, f.h, BYTES / 2, TO_DEVICE));
    OK(11, cudaMemcpy(f.x, fresh, BYTES, WITHIN));
    OK(12, cudaMemcpy(f.g, f.x, BYTES, TO_HOST));
    OK(13, cudaFree(fresh));
    assert_hazard("uninitialised", 12, 0);
    assert_non_null(strstr(hazard_text(), "2048 of the 4096 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(two_writes),
        T(write_then_read),
        T(read_then_write),
        T(found_although_the_first_was_waited_for),
        T(an_event_orders),
        T(the_host_orders),
        T(order_is_transitive),
        T(reads_are_free),
        T(other_bytes_are_free),
        T(atomics_do_not_disturb_one_another),
        T(neighbours_bytes_are_free),
        T(bytes_that_are_read_are_free),
        T(a_wait_before_the_record_is_none),
        T(a_wait_takes_the_newest_record),
        T(the_legacy_stream_orders_blocking_streams),
        T(it_does_not_order_non_blocking_ones),
        T(the_threads_own_stream_is_another),
        T(synchronising_with_the_legacy_stream_waits_for_blocking_ones),
        T(host_memory_in_flight),
        T(what_was_not_waited_for_is_not_there),
        T(pinned_memory_is_read_late),
        T(pageable_memory_is_staged),
        T(memory_given_back_in_flight),
        T(stream_ordered_memory),
        T(bytes_that_nobody_wrote),
    };
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}
