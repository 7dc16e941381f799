/* Capture in the simulated runtime: what is captured runs as it was captured, and rules that are
 * broken give CUDA's own codes. */
#include "host_graph.h"

/* ---- capture */

static void what_is_captured_runs_as_it_was_captured(void **state)
{
    (void)state;
    int *host, status = 9, factor = 2;
    void *graph, *exec;
    OK(cudaMallocHost((void **)&host, BYTES));
    for (int i = 0; i < N; i++)
        host[i] = 1;
    OK(cudaStreamBeginCapture(s, GLOBAL));
    OK(cudaStreamIsCapturing(s, &status));
    assert_int_equal(status, 1);
    OK(cudaMemcpyAsync(device, host, BYTES, H2D, s));
    OK(step(s, device, factor, 10));
    factor = 3; /* parameters were copied */
    OK(step(s, device, factor, 0));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaStreamIsCapturing(s, &status));
    assert_int_equal(status, 0);
    exec = instantiate(graph);
    OK(cudaGraphDestroy(graph));  /* not needed any more */
    assert_int_equal(value(), 0); /* capturing runs nothing */
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(value(), 36);
    for (int i = 0; i < N; i++)
        host[i] = 2; /* contents are read when it runs */
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(value(), 42);
    OK(cudaGraphExecDestroy(exec));
    IS(1, cudaGraphLaunch(exec, s));
    OK(cudaFreeHost(host));
    assert_string_equal(report(), "");
}

/* s forks to s2, whose work is `joined` or not. */
static int fork_and_join(void *event, void *back, bool joined, int *other, void **graph)
{
    OK(cudaStreamBeginCapture(s, GLOBAL));
    OK(step(s, device, 1, 5));
    OK(cudaEventRecord(event, s));
    OK(cudaStreamWaitEvent(s2, event, 0));
    OK(step(s2, other, 1, 7));
    OK(step(s, device, 2, 0));
    OK(cudaEventRecord(back, s2));
    if (joined)
        OK(cudaStreamWaitEvent(s, back, 0));
    OK(step(s, device, 1, 1));
    return AT(cudaStreamEndCapture(s, graph));
}

static void branches_join_and_overlap(void **state)
{
    (void)state;
    void *event, *back, *graph, *exec;
    int *other;
    OK(cudaMalloc((void **)&other, BYTES));
    OK(cudaMemset(other, 0, BYTES));
    OK(cudaEventCreate(&event));
    OK(cudaEventCreate(&back));
    assert_int_equal(fork_and_join(event, back, false, other, &graph), 904);
    assert_null(graph);
    assert_int_equal(fork_and_join(event, back, true, other, &graph), 0);
    size_t nodes = 0, edges = 0;
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    assert_int_equal(nodes, 4);
    assert_int_equal(edges, 4);
    exec = instantiate(graph);
    OK(cudaDeviceSynchronize());
    assert_string_equal(report(), "");
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(value(), 33);

    struct sim_report found = {0};
    sim_take_report(&found);
    assert_int_equal(json_array_size(found.hazards), 0);
    size_t kernels = 0, together = 0;
    for (size_t i = 0; i < found.spans.count; i++) {
        const struct span *a = &found.spans.items[i];
        if (a->kind != SPAN_KERNEL)
            continue;
        kernels++;
        assert_in_range(a->graph, 1, 2);
        for (size_t k = 0; k < i; k++) {
            const struct span *b = &found.spans.items[k];
            together += b->kind == SPAN_KERNEL && a->from_us < b->to_us && b->from_us < a->to_us;
        }
    }
    assert_int_equal(kernels, 8);
    assert_true(together >= 2);
    sim_report_free(&found);
    IS(1, cudaEventQuery(event));
    OK(cudaEventRecord(event, s));
    OK(cudaEventSynchronize(event));
}

/* ---- rules */

static void *event_in, *event_out;

static int launch_default(void)
{
    return step(NULL, device, 1, 1);
}
static int copy_now(void)
{
    int x;
    return cudaMemcpy(&x, device, sizeof x, D2H);
}
static int record_default(void)
{
    return cudaEventRecord(event_out, NULL);
}
static int wait_default(void)
{
    return cudaStreamSynchronize(NULL);
}
static int allocate(void)
{
    void *p;
    return cudaMalloc(&p, 64);
}
static int give_back(void)
{
    return cudaFree(device);
}
static int synchronise(void)
{
    return cudaStreamSynchronize(s);
}
static int query(void)
{
    return cudaStreamQuery(s);
}
static int synchronise_device(void)
{
    return cudaDeviceSynchronize();
}
static int query_event(void)
{
    return cudaEventQuery(event_in);
}
static int synchronise_event(void)
{
    return cudaEventSynchronize(event_in);
}
static int wait_outside(void)
{
    return cudaStreamWaitEvent(s, event_out, 0);
}
static int wait_other(void)
{
    return cudaStreamWaitEvent(s3, event_in, 0);
}
static int end_elsewhere(void)
{
    void *graph;
    return cudaStreamEndCapture(s2, &graph);
}
static void ignore(void *stream, int status, void *user)
{
    (void)stream;
    (void)status;
    (void)user;
}
static int add_callback(void)
{
    return cudaStreamAddCallback(s, ignore, NULL, 0);
}

static int allocate_apart(void)
{
    void *p;
    return cudaMallocAsync(&p, 64, s3); /* s3 has no part in the capture */
}
static int give_back_apart(void)
{
    return cudaFreeAsync(device, s3);
}
static int instantiate_beside(void)
{
    void *exec;
    return cudaGraphInstantiate(&exec, NULL, 0);
}

static const struct {
    int (*call)(void);
    int result;
    bool second; /* s3 is captured too, by itself */
} rules[] = {
    {launch_default, 906, false},     {record_default, 906, false},
    {wait_default, 906, false},       {copy_now, 906, false},
    {allocate, 900, false},           {give_back, 900, false},
    {synchronise, 900, false},        {query, 900, false},
    {synchronise_device, 900, false}, {query_event, 907, false},
    {synchronise_event, 907, false},  {wait_outside, 905, false},
    {wait_other, 902, true},          {end_elsewhere, 903, false},
    {add_callback, 900, false},       {allocate_apart, 900, false},
    {give_back_apart, 900, false},    {instantiate_beside, 900, false},
};

static void broken_rules_have_cudas_codes(void **state)
{
    (void)state;
    OK(cudaEventCreate(&event_in));
    OK(cudaEventCreate(&event_out));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct failed_call first;
        void *graph = &graph;
        int status = 0;
        OK(cudaEventRecord(event_out, s));
        OK(cudaStreamBeginCapture(s, GLOBAL));
        OK(step(s, device, 1, 1));
        OK(cudaEventRecord(event_in, s));
        OK(cudaStreamWaitEvent(s2, event_in, 0));
        if (rules[i].second)
            OK(cudaStreamBeginCapture(s3, GLOBAL));
        calls_reset();
        line_now = 1000 + (int)i;
        if (rules[i].call() != rules[i].result)
            fail_msg("rule %zu", i);
        OK(cudaStreamIsCapturing(s, &status));
        if (status != 2)
            fail_msg("rule %zu spoils nothing", i);
        IS(901, step(s, device, 1, 1));
        IS(901, cudaStreamEndCapture(s, &graph));
        assert_null(graph);
        assert_true(calls_first_failure(&first));
        assert_int_equal(first.result, rules[i].result);
        if (rules[i].second)
            IS(901, cudaStreamEndCapture(s3, &graph));
        OK(step(s, device, 1, 1)); /* all is well again */
        OK(step(s2, device, 1, 1));
        OK(cudaDeviceSynchronize());
    }
    assert_non_null(report());
}

static void begin_and_end_have_their_rules(void **state)
{
    (void)state;
    void *graph = NULL;
    int status;
    IS(900, cudaStreamBeginCapture(NULL, GLOBAL));
    IS(1, cudaStreamBeginCapture(s, 7));
    IS(401, cudaStreamEndCapture(s, &graph));
    OK(cudaStreamBeginCapture(s, GLOBAL));
    IS(401, cudaStreamBeginCapture(s, GLOBAL));
    IS(906, cudaStreamIsCapturing(NULL, &status)); /* and spoils nothing */
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphDestroy(graph));
    /* A stream that does not block leaves the default stream alone. */
    OK(cudaStreamBeginCapture(s3, GLOBAL));
    OK(step(NULL, device, 1, 1));
    OK(step(s3, device, 1, 1));
    OK(cudaStreamIsCapturing(NULL, &status));
    OK(cudaStreamEndCapture(s3, &graph));
    OK(cudaGraphDestroy(graph));
}

static void *allocate_elsewhere(void *unused)
{
    (void)unused;
    void *p = NULL;
    intptr_t result = cudaMalloc(&p, 64);
    if (!result)
        cudaFree(p);
    return (void *)result;
}

static void *end_in_thread(void *stream)
{
    void *graph;
    return (void *)(intptr_t)cudaStreamEndCapture(stream, &graph);
}

static int in_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    return (int)(intptr_t)result;
}

static void modes_say_who_may_allocate(void **state)
{
    (void)state;
    static const struct {
        int mode, here, elsewhere;
    } modes[] = {{GLOBAL, 900, 900}, {THREAD, 900, 0}, {RELAXED, 0, 0}};
    for (size_t i = 0; i < 3; i++) {
        void *graph, *p;
        OK(cudaStreamBeginCapture(s, modes[i].mode));
        assert_int_equal(in_thread(allocate_elsewhere, NULL), modes[i].elsewhere);
        IS(modes[i].elsewhere ? 901 : 0, cudaStreamEndCapture(s, &graph));
        OK(cudaStreamBeginCapture(s, modes[i].mode));
        IS(modes[i].here, cudaMalloc(&p, 64));
        IS(modes[i].here ? 901 : 0, cudaStreamEndCapture(s, &graph));
        OK(cudaStreamBeginCapture(s, modes[i].mode));
        assert_int_equal(in_thread(end_in_thread, s), modes[i].mode == RELAXED ? 0 : 908);
        IS(401, cudaStreamEndCapture(s, &graph)); /* it is over either way */
    }
    int mode = RELAXED;
    void *graph, *p;
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, GLOBAL);
    OK(cudaStreamBeginCapture(s, GLOBAL));
    OK(cudaMalloc(&p, 64));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, RELAXED);
}

static void an_open_capture_is_told(void **state)
{
    (void)state;
    assert_null(calls_open_capture());
    OK(cudaStreamBeginCapture(s, GLOBAL));
    OK(step(s, device, 1, 1));
    assert_non_null(calls_open_capture());
    assert_string_equal(report(), ""); /* and with the run the capture is over */
    calls_reset();
    assert_null(calls_open_capture());
    OK(step(s, device, 1, 1));
    OK(cudaDeviceSynchronize());
    assert_string_equal(report(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_captured_runs_as_it_was_captured),
        TEST(branches_join_and_overlap),
        TEST(broken_rules_have_cudas_codes),
        TEST(begin_and_end_have_their_rules),
        TEST(modes_say_who_may_allocate),
        TEST(an_open_capture_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
