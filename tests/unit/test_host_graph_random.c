/* Right programs at random, as streams and as graphs: both give the same, and neither is blamed. */
#include "host_graph.h"

/* ---- right programs, at random: what disturbs another op is ordered by an event. */

enum { BUFFERS = 6, STREAMS = 3, OPS = 40 };

struct random_op {
    int stream, buffer, factor, addend;
};

static unsigned random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)(*state >> 33);
}

static void random_program(uint64_t *random, int *buffers[BUFFERS], void *events[OPS],
                           bool captured, void **graph)
{
    void *streams[STREAMS] = {s, s2, s3};
    int last[BUFFERS], stream_last[STREAMS] = {-1, -1, -1};
    void *begin = events[0];
    memset(last, 0xff, sizeof last);
    if (captured)
        OK(cudaStreamBeginCapture(s, GLOBAL));
    OK(cudaEventRecord(begin, s));
    for (int i = 1; i < STREAMS; i++)
        OK(cudaStreamWaitEvent(streams[i], begin, 0));
    for (int i = 1; i < OPS; i++) {
        int stream = (int)(random_next(random) % STREAMS);
        int buffer = (int)(random_next(random) % BUFFERS);
        if (last[buffer] >= 0)
            OK(cudaStreamWaitEvent(streams[stream], events[last[buffer]], 0));
        OK(step(streams[stream], buffers[buffer], 1 + (int)(random_next(random) % 3), i));
        OK(cudaEventRecord(events[i], streams[stream]));
        last[buffer] = stream_last[stream] = i;
    }
    for (int i = 1; i < STREAMS; i++) {
        OK(cudaEventRecord(begin, streams[i]));
        OK(cudaStreamWaitEvent(s, begin, 0));
    }
    if (captured)
        OK(cudaStreamEndCapture(s, graph));
}

static void right_programs_are_never_blamed(void **state)
{
    (void)state;
    int *buffers[BUFFERS], want[BUFFERS], got;
    void *events[OPS], *graph;
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < BUFFERS; i++)
        OK(cudaMalloc((void **)&buffers[i], BYTES));
    for (int i = 0; i < OPS; i++)
        OK(cudaEventCreate(&events[i]));
    for (int turn = 0; turn < 40; turn++) {
        uint64_t again = random;
        for (int i = 0; i < BUFFERS; i++)
            OK(cudaMemset(buffers[i], i, BYTES));
        OK(cudaDeviceSynchronize());
        random_program(&random, buffers, events, false, NULL);
        OK(cudaStreamSynchronize(s));
        for (int i = 0; i < BUFFERS; i++) {
            OK(cudaMemcpy(&want[i], buffers[i], sizeof want[i], D2H));
            OK(cudaMemset(buffers[i], i, BYTES));
        }
        OK(cudaDeviceSynchronize());
        random_program(&again, buffers, events, true, &graph);
        OK(cudaGraphLaunch(instantiate(graph), s));
        OK(cudaStreamSynchronize(s));
        for (int i = 0; i < BUFFERS; i++) {
            OK(cudaMemcpy(&got, buffers[i], sizeof got, D2H));
            assert_int_equal(got, want[i]);
        }
        assert_string_equal(report(), "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(right_programs_are_never_blamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
