/* Whole programs over streams that are right: the simulated runtime finds nothing in them. */
#include "host_streams.h"

#include "harness/host/sim_guard.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(chunks_over_streams),     T(fork_and_join),      T(ping_pong),
        T(pinned_double_buffering), T(default_stream_mix), T(branches_of_a_graph),
    };
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}
