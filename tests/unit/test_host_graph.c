/* Graphs of the simulated runtime: made node by node, updated, put into graphs, with memory and
 * events of their own. */
#include "host_graph.h"

/* ---- node by node */

struct kernel_node { /* cudaKernelNodeParams */
    void *function;
    struct dim3 grid, block;
    unsigned shared;
    void **params, **extra;
};
struct memset_node { /* cudaMemsetParams */
    void *to;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};
struct host_node { /* cudaHostNodeParams */
    void (*function)(void *user);
    void *user;
};

static void count_up(void *user)
{
    ++*(int *)user;
}

static void graphs_are_made_node_by_node(void **state)
{
    (void)state;
    int factor = 3, addend = 4, called = 0, type = 9, *host;
    void *graph, *set, *kernel, *copy, *call, *empty, *exec, *nodes[8], *clone, *found, *p = device;
    void *args[] = {&p, &factor, &addend};
    struct kernel_node kernel_params = {&step_stub, {1, 1, 1}, {N, 1, 1}, 0, args, NULL}, got;
    OK(cudaMallocHost((void **)&host, BYTES));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &(struct memset_node){p, 0, 2, 4, N, 1}));
    OK(cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &kernel_params));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, p, BYTES, D2H));
    OK(cudaGraphAddHostNode(&call, graph, &copy, 1, &(struct host_node){count_up, &called}));
    OK(cudaGraphAddEmptyNode(&empty, graph, &call, 1));
    OK(cudaGraphAddDependencies(graph, &set, &kernel, NULL, 1));
    IS(1, cudaGraphAddDependencies(graph, &set, &kernel, NULL, 1)); /* it is there */
    size_t count = 8;
    OK(cudaGraphGetNodes(graph, nodes, &count));
    assert_int_equal(count, 5);
    OK(cudaGraphGetRootNodes(graph, nodes, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(nodes[0], set);
    count = 8;
    OK(cudaGraphNodeGetDependencies(copy, nodes, NULL, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(nodes[0], kernel);
    count = 8;
    OK(cudaGraphNodeGetDependentNodes(copy, nodes, NULL, &count));
    assert_ptr_equal(nodes[0], call);
    const struct {
        void *node;
        int type;
    } types[] = {{kernel, 0}, {copy, 1}, {set, 2}, {call, 3}, {empty, 5}};
    for (size_t i = 0; i < 5; i++) {
        OK(cudaGraphNodeGetType(types[i].node, &type));
        assert_int_equal(type, types[i].type);
    }
    OK(cudaGraphKernelNodeGetParams(kernel, &got));
    assert_ptr_equal(got.function, &step_stub);
    assert_int_equal(got.block.x, N);
    assert_int_equal(*(int *)got.params[1], 3);

    exec = instantiate(graph);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(host[N - 1], 10);
    assert_int_equal(called, 1);

    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&found, kernel, clone));
    assert_ptr_not_equal(found, kernel);
    factor = 5;
    OK(cudaGraphKernelNodeSetParams(found, &kernel_params));
    OK(cudaGraphKernelNodeGetParams(kernel, &got));
    assert_int_equal(*(int *)got.params[1], 3); /* the clone's alone */
    OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &kernel_params));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(host[0], 14);
    OK(cudaGraphNodeSetEnabled(exec, kernel, 0));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(host[0], 2);
    assert_int_equal(called, 3);
    IS(1, cudaGraphExecKernelNodeSetParams(exec, found, &kernel_params));

    /* A circle can be made and is refused when it is to be executed. */
    OK(cudaGraphAddDependencies(graph, &empty, &set, NULL, 1));
    IS(1, cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphRemoveDependencies(graph, &empty, &set, NULL, 1));
    OK(cudaGraphDestroyNode(copy));
    exec = instantiate(graph);
    OK(cudaGraphDestroy(graph));
    IS(1, cudaGraphDestroy(graph));
    IS(1, cudaGraphKernelNodeGetParams(kernel, &got));
    OK(cudaFreeHost(host));
    assert_string_equal(report(), "");
}

static void *capture_steps(int count, int addend, bool copy)
{
    void *graph;
    OK(cudaStreamBeginCapture(s, GLOBAL));
    for (int i = 0; i < count; i++)
        OK(step(s, device, 1, addend));
    if (copy)
        OK(cudaMemsetAsync(device, 0, BYTES, s));
    OK(cudaStreamEndCapture(s, &graph));
    return graph;
}

struct update_result { /* cudaGraphExecUpdateResultInfo */
    int result;
    void *node, *from;
};

static void an_executable_graph_is_updated_in_place(void **state)
{
    (void)state;
    void *three = capture_steps(3, 1, false), *exec = instantiate(three);
    struct update_result info;
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphExecUpdate(exec, capture_steps(3, 10, false), &info));
    assert_int_equal(info.result, 0);
    OK(cudaGraphLaunch(exec, s)); /* the launch before keeps its own */
    OK(cudaStreamSynchronize(s));
    assert_int_equal(value(), 33);
    IS(910, cudaGraphExecUpdate(exec, capture_steps(4, 1, false), &info));
    assert_int_equal(info.result, 2);
    assert_null(info.node);
    IS(910, cudaGraphExecUpdate(exec, capture_steps(2, 1, true), &info));
    assert_int_equal(info.result, 3);
    assert_non_null(info.node);
    OK(cudaGraphLaunch(exec, s)); /* as it was */
    OK(cudaStreamSynchronize(s));
    assert_int_equal(value(), 63);
}

static void graphs_go_into_graphs(void **state)
{
    (void)state;
    void *inner = capture_steps(3, 2, false), *graph, *child, *after;
    int addend = 0, factor = 10, type;
    void *p = device, *args[] = {&p, &factor, &addend};
    struct kernel_node params = {&step_stub, {1, 1, 1}, {N, 1, 1}, 0, args, NULL};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
    OK(cudaGraphAddKernelNode(&after, graph, &child, 1, &params));
    OK(cudaGraphNodeGetType(child, &type));
    assert_int_equal(type, 4);
    OK(cudaGraphLaunch(instantiate(graph), s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(value(), 60);
    assert_string_equal(report(), "");
}

/* ---- memory that a graph allocates */

/* x = allocated, set to 0, 3 steps of `addend`, copied to `device`; freed when `frees`. */
static void *capture_allocation(void **x, int addend, bool frees)
{
    void *graph;
    OK(cudaStreamBeginCapture(s, GLOBAL));
    OK(cudaMallocAsync(x, BYTES, s));
    OK(cudaMemsetAsync(*x, 0, BYTES, s));
    for (int i = 0; i < 3; i++)
        OK(step(s, *x, 1, addend));
    OK(cudaMemcpyAsync(device, *x, BYTES, D2D, s));
    if (frees)
        OK(cudaFreeAsync(*x, s));
    OK(cudaStreamEndCapture(s, &graph));
    return graph;
}

static void a_graph_allocates_memory(void **state)
{
    (void)state;
    void *x, *graph = capture_allocation(&x, 2, true), *exec = instantiate(graph);
    size_t before, after;
    assert_string_equal(report(), "");
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(value(), 6);
    IS(1, cudaFreeAsync(x, s)); /* the graph did */
    IS(1, cudaFree(x));
    OK(cudaMemGetInfo(&before, NULL));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaMemGetInfo(&after, NULL));
    assert_string_equal(report(), "");
    assert_int_equal(after - before, BYTES);
}

static void memory_of_a_graph_lives_on_until_it_is_freed(void **state)
{
    (void)state;
    void *x, *graph = capture_allocation(&x, 2, false), *exec = instantiate(graph);
    for (int i = 0; i < 2; i++) {
        OK(cudaGraphLaunch(exec, s));
        IS(1, cudaGraphLaunch(exec, s)); /* it is still there */
        OK(step(s, x, 1, 1));
        OK(cudaMemcpyAsync(device, x, BYTES, D2D, s));
        if (i)
            OK(cudaFree(x));
        else
            OK(cudaFreeAsync(x, s));
        OK(cudaStreamSynchronize(s));
        assert_int_equal(value(), 7);
    }
    assert_string_equal(report(), "");
    void *again;
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&again, graph, 1)); /* cudaGraphInstantiateFlagAutoFreeOnLaunch */
    OK(cudaGraphLaunch(again, s));
    OK(cudaGraphLaunch(again, s));
    OK(cudaFreeAsync(x, s));
    OK(cudaStreamSynchronize(s));
    assert_string_equal(report(), "");
}

/* cudaErrorNotSupported, as an H200 says; other graphs may be instantiated any number of times. */
static void a_graph_with_memory_is_instantiated_once_at_a_time(void **state)
{
    (void)state;
    void *x, *graph = capture_allocation(&x, 2, true), *exec = instantiate(graph), *again = NULL;
    void *other = capture_steps(2, 1, false);
    struct failed_call failed;
    calls_reset();
    IS(801, cudaGraphInstantiate(&again, graph, 0));
    assert_true(calls_first_failure(&failed));
    assert_non_null(strstr(failed.detail, "only once at a time"));
    IS(801, cudaGraphInstantiateWithFlags(&again, graph, 1));
    assert_null(again);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&again, graph, 0));
    OK(cudaGraphLaunch(again, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(value(), 6);
    assert_non_null(instantiate(other));
    assert_non_null(instantiate(other));
    calls_reset();
    assert_string_equal(report(), "");
}

static void memory_of_a_graph_is_not_there_before_or_after(void **state)
{
    (void)state;
    void *x, *graph = capture_allocation(&x, 2, true), *exec = instantiate(graph), *outside;
    OK(cudaMemcpyAsync(device, x, BYTES, D2D, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(strncmp(report(), "unordered", 9), 0);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaMemsetAsync(x, 0, BYTES, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(strncmp(report(), "unordered", 9), 0);
    /* Only a graph's own memory can be freed in a graph. */
    OK(cudaMallocAsync(&outside, BYTES, s));
    OK(cudaStreamBeginCapture(s, GLOBAL));
    IS(1, cudaFreeAsync(outside, s));
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaFreeAsync(outside, s));
    OK(cudaStreamSynchronize(s));
    assert_string_equal(report(), "");
}

static void a_graph_records_events_and_waits_for_them(void **state)
{
    (void)state;
    enum { EXTERNAL = 1 };
    void *begin, *end, *graph, *exec;
    float ms = -1;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaStreamBeginCapture(s, GLOBAL));
    OK(cudaEventRecordWithFlags(begin, s, EXTERNAL));
    for (int i = 0; i < 5; i++)
        OK(step(s, device, 1, 1));
    OK(cudaEventRecordWithFlags(end, s, EXTERNAL));
    OK(cudaStreamEndCapture(s, &graph));
    exec = instantiate(graph);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamWaitEvent(s3, end, 0));
    OK(step(s3, device, 10, 0)); /* ordered by the event alone */
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    assert_true(ms > 0);
    OK(cudaDeviceSynchronize());
    assert_int_equal(value(), 50);
    OK(cudaStreamBeginCapture(s, GLOBAL));
    OK(cudaStreamWaitEvent(s, end, EXTERNAL));
    OK(step(s, device, 1, 1));
    OK(cudaStreamEndCapture(s, &graph));
    exec = instantiate(graph);
    OK(step(s3, device, 1, 7));
    OK(cudaEventRecord(end, s3));
    OK(cudaGraphLaunch(exec, s));
    OK(cudaDeviceSynchronize());
    assert_int_equal(value(), 58);
    assert_string_equal(report(), "");
}

static void launches_of_one_graph_come_one_after_the_other(void **state)
{
    (void)state;
    void *graph = capture_steps(2, 1, false), *exec = instantiate(graph);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaGraphLaunch(exec, s3));
    OK(cudaGraphLaunch(exec, s2));
    OK(cudaDeviceSynchronize());
    assert_int_equal(value(), 6);
    assert_string_equal(report(), "");
    OK(cudaGraphLaunch(exec, s)); /* another executable graph knows nothing of it */
    OK(cudaGraphLaunch(instantiate(graph), s3));
    OK(cudaDeviceSynchronize());
    assert_memory_equal(report(), "unordered ", 10);
}

static double last_end_us(void)
{
    struct sim_report found = {0};
    double from_us = -1, to_us = 0;
    sim_take_report(&found);
    for (size_t i = 0; i < found.spans.count; i++) {
        const struct span *span = &found.spans.items[i];
        from_us = from_us < 0 || span->from_us < from_us ? span->from_us : from_us;
        to_us = span->to_us > to_us ? span->to_us : to_us;
    }
    sim_report_free(&found);
    return to_us - from_us;
}

static void forty_small_launches_gain_from_a_graph(void **state)
{
    (void)state;
    void *exec = instantiate(capture_steps(40, 1, false));
    OK(step(s, device, 1, 0));
    OK(cudaStreamSynchronize(s));
    last_end_us();
    for (int i = 0; i < 40; i++)
        OK(step(s, device, 1, 1));
    OK(cudaStreamSynchronize(s));
    double singly_us = last_end_us();
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    double graph_us = last_end_us();
    assert_true(singly_us / graph_us > 2.5);
    assert_true(singly_us / graph_us < 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(graphs_are_made_node_by_node),
        TEST(an_executable_graph_is_updated_in_place),
        TEST(graphs_go_into_graphs),
        TEST(a_graph_allocates_memory),
        TEST(memory_of_a_graph_lives_on_until_it_is_freed),
        TEST(a_graph_with_memory_is_instantiated_once_at_a_time),
        TEST(memory_of_a_graph_is_not_there_before_or_after),
        TEST(a_graph_records_events_and_waits_for_them),
        TEST(launches_of_one_graph_come_one_after_the_other),
        TEST(forty_small_launches_gain_from_a_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
