/* What the simulated runtime takes for ordered and what not: each rule once broken and once kept.
 */
#include "host_sim.h"

#include "harness/host/sim_guard.h"

enum { N = 1024, BYTES = N * 4 };

struct fixture {
    void *a, *b;     /* streams, non-blocking */
    void *ready;     /* an event */
    void *x, *y;     /* device memory, written all over */
    uint32_t *h, *g; /* pinned memory */
};

static struct fixture f;

static int setup(void **state)
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

static int teardown(void **state)
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

/* ---- correct programs */

static void chunks_over_streams(void **state)
{
    enum { CHUNKS = 8, CHUNK = N / CHUNKS, STREAMS = 3 };
    void *streams[STREAMS];
    (void)state;
    for (unsigned i = 0; i < STREAMS; i++)
        streams[i] = stream_new(NON_BLOCKING);
    for (unsigned c = 0; c < CHUNKS; c++) {
        void *s = streams[c % STREAMS];
        uint32_t *x = (uint32_t *)f.x + c * CHUNK, *y = (uint32_t *)f.y + c * CHUNK;
        OK(10, cudaMemcpyAsync(x, f.h + c * CHUNK, CHUNK * 4, TO_DEVICE, s));
        OK(11, run_move(y, x, CHUNK, s));
        OK(12, cudaMemcpyAsync(f.g + c * CHUNK, y, CHUNK * 4, TO_HOST, s));
    }
    for (unsigned i = 0; i < STREAMS; i++) {
        OK(13, cudaStreamSynchronize(streams[i]));
        OK(14, cudaStreamDestroy(streams[i]));
    }
    assert_clean();
    assert_memory_equal(f.g, f.h, BYTES);
}

static void fork_and_join(void **state)
{
    void *joined = event_new();
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        OK(10, cudaMemcpyAsync(f.x, f.h, BYTES, TO_DEVICE, f.a));
        OK(11, cudaEventRecord(f.ready, f.a));
        OK(12, cudaStreamWaitEvent(f.b, f.ready, 0));
        OK(13, run_add(f.x, N / 2, f.a));
        OK(14, run_add((uint32_t *)f.x + N / 2, N / 2, f.b));
        OK(15, cudaEventRecord(joined, f.b));
        OK(16, cudaStreamWaitEvent(f.a, joined, 0));
        OK(17, cudaMemcpyAsync(f.g, f.x, BYTES, TO_HOST, f.a));
    }
    OK(18, cudaStreamSynchronize(f.a));
    OK(19, cudaEventDestroy(joined));
    assert_clean();
    assert_int_equal(f.g[0], 1);
    assert_int_equal(f.g[N - 1], N);
}

static void ping_pong(void **state)
{
    void *free_again = event_new();
    (void)state;
    for (unsigned round = 0; round < 8; round++) {
        if (round)
            OK(9, cudaStreamWaitEvent(f.a, free_again, 0));
        OK(10, run_add(f.x, N, f.a));
        OK(11, cudaEventRecord(f.ready, f.a));
        OK(12, cudaStreamWaitEvent(f.b, f.ready, 0));
        OK(13, run_move(f.y, f.x, N, f.b));
        OK(14, cudaEventRecord(free_again, f.b));
    }
    OK(15, cudaDeviceSynchronize());
    OK(16, cudaEventDestroy(free_again));
    assert_clean();
}

static void pinned_double_buffering(void **state)
{
    uint32_t *buffer[2] = {f.h, f.g};
    void *drained[2] = {event_new(), event_new()};
    (void)state;
    for (uint32_t piece = 0; piece < 6; piece++) {
        unsigned k = piece % 2;
        if (piece >= 2)
            OK(10, cudaEventSynchronize(drained[k]));
        guard_touch(buffer[k], BYTES, true, 11);
        for (unsigned i = 0; i < N; i++)
            buffer[k][i] = piece;
        OK(12, cudaMemcpyAsync(f.x, buffer[k], BYTES, TO_DEVICE, f.a));
        OK(13, cudaEventRecord(drained[k], f.a));
        OK(14, run_add(f.y, N, f.a));
    }
    OK(15, cudaStreamSynchronize(f.a));
    OK(16, cudaEventDestroy(drained[0]));
    OK(17, cudaEventDestroy(drained[1]));
    assert_clean();
}

static void default_stream_mix(void **state)
{
    void *c = stream_new(0);
    (void)state;
    OK(10, cudaMemcpy(f.x, f.h, BYTES, TO_DEVICE));
    OK(11, run_add(f.x, N, c));
    OK(12, run_add(f.x, N, NULL));
    OK(13, cudaMemcpy(f.g, f.x, BYTES, TO_HOST));
    OK(14, cudaMemset(f.x, 0, BYTES));
    OK(15, run_add(f.x, N, c));
    OK(16, cudaStreamDestroy(c)); /* what is in it still runs */
    OK(17, cudaMemcpy(f.h, f.x, BYTES, TO_HOST));
    assert_clean();
    assert_int_equal(f.g[5], 7);
    assert_int_equal(f.h[5], 1);
}

static void branches_of_a_graph(void **state)
{
    void *graph, *exec;
    (void)state;
    for (int joined = 0; joined < 2; joined++) {
        OK(10, cudaStreamBeginCapture(f.a, 0));
        OK(11, cudaEventRecord(f.ready, f.a));
        OK(12, cudaStreamWaitEvent(f.b, f.ready, 0));
        OK(13, run_add(f.x, N, f.a));
        if (joined) {
            OK(14, cudaEventRecord(f.ready, f.a));
            OK(15, cudaStreamWaitEvent(f.b, f.ready, 0));
        }
        OK(16, run_add(f.x, N, f.b));
        OK(17, cudaEventRecord(f.ready, f.b));
        OK(18, cudaStreamWaitEvent(f.a, f.ready, 0));
        OK(19, cudaStreamEndCapture(f.a, &graph));
        OK(20, cudaGraphInstantiate(&exec, graph, 0));
        OK(21, cudaGraphLaunch(exec, f.a));
        OK(22, cudaGraphLaunch(exec, f.a));
        OK(23, cudaStreamSynchronize(f.a));
        OK(24, cudaGraphExecDestroy(exec));
        OK(25, cudaGraphDestroy(graph));
        if (joined) {
            assert_clean();
        } else {
            assert_hazard("unordered", 16, 13);
            assert_non_null(strstr(hazard_text(), "no path of the graph"));
        }
    }
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
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
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
        T(chunks_over_streams),
        T(fork_and_join),
        T(ping_pong),
        T(pinned_double_buffering),
        T(default_stream_mix),
        T(branches_of_a_graph),
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
