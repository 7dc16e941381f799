/* Capture and graphs of the simulated runtime, through the functions that a student's object calls:
 * what is captured runs as it was captured, rules that are broken give CUDA's own codes, and right
 * programs are never blamed. */
#include "harness/host/calls.h"
#include "harness/host/runtime.h"

#include "harness/base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define X(type, name, parameters, arguments) type name parameters;
#include "harness/host/api.def"
#undef X

enum { H2D = 1, D2H = 2, D2D = 3, GLOBAL = 0, THREAD = 1, RELAXED = 2, NON_BLOCKING = 1 };
enum { N = 256, BYTES = N * sizeof(int) };

/* Each call is made "from" the line of the test that it stands in. */
static _Thread_local int line_now;
#define AT(call)    (line_now = __LINE__, (call))
#define OK(call)    assert_int_equal(AT(call), 0)
#define IS(n, call) assert_int_equal(AT(call), n)

static int line_of(const void *site)
{
    (void)site;
    return line_now;
}

/* p[i] = p[i] * factor + addend */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry step(.param .u64 p, .param .u32 factor, .param .u32 addend)\n"
    "{\n"
    "    .reg .b32 %r<6>;\n"
    "    .reg .b64 %rd<4>;\n"
    "    ld.param.u64 %rd1, [p];\n"
    "    ld.param.u32 %r1, [factor];\n"
    "    ld.param.u32 %r2, [addend];\n"
    "    mov.u32 %r3, %tid.x;\n"
    "    mul.wide.u32 %rd2, %r3, 4;\n"
    "    add.s64 %rd3, %rd1, %rd2;\n"
    "    ld.global.u32 %r4, [%rd3];\n"
    "    mad.lo.u32 %r4, %r4, %r1, %r2;\n"
    "    st.global.u32 [%rd3], %r4;\n"
    "    ret;\n"
    "}\n";

struct fatbin { /* as fatbinary writes it */
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    uint16_t kind, entry_version;
    uint32_t entry_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes, options;
    uint16_t minor, major;
    uint32_t arch, name, name_bytes;
    uint64_t flags, reserved, whole_bytes;
    char text[sizeof ptx];
};
static struct fatbin fatbin = {.magic = 0xba55ed50u,
                               .version = 1,
                               .header_bytes = 16,
                               .bytes = sizeof(struct fatbin) - 16,
                               .kind = 1,
                               .entry_version = 0x101,
                               .entry_bytes = 64,
                               .payload_bytes = sizeof(struct fatbin) - 16 - 64,
                               .arch = 80};
static struct {
    uint32_t magic, version;
    const void *data, *linked;
} wrapper = {0x466243b1u, 1, &fatbin, NULL};

static struct runtime runtime;
static char step_stub;
static void *s, *s2, *s3; /* streams: two that block, one that doesn't */
static int *device;       /* N ints */

/* A process has one runtime; here each test opens it anew, and the one before is left behind. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

static int set_up(void **state)
{
    (void)state;
    memcpy(fatbin.text, ptx, sizeof ptx);
    sim_open_runtime(&runtime, &(struct sim_options){.seed = 1, .threads = 1, .line_of = line_of});
    runtime_use(&runtime);
    calls_reset();
    api_module module = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(module, &step_stub, (char[]){"step"}, "step", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFatBinaryEnd(module);
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&s2));
    OK(cudaStreamCreateWithFlags(&s3, NON_BLOCKING));
    OK(cudaMalloc((void **)&device, BYTES));
    OK(cudaMemset(device, 0, BYTES));
    OK(cudaDeviceSynchronize());
    return 0;
}

/* What was found: "kind line other; ..." */
static const char *report(void)
{
    static struct buf text;
    struct sim_report found = {0};
    sim_take_report(&found);
    buf_clear(&text);
    size_t i;
    json_t *one;
    json_array_foreach(found.hazards, i, one)
        buf_printf(&text, "%s %d %d; ", json_string_value(json_object_get(one, "kind")),
                   (int)json_integer_value(json_object_get(one, "line")),
                   (int)json_integer_value(json_object_get(one, "other_line")));
    buf_add_str(&text, found.fault);
    buf_add_str(&text, found.cannot);
    sim_report_free(&found);
    return buf_str(&text);
}

static int step(void *stream, int *p, int factor, int addend)
{
    void *args[] = {&p, &factor, &addend};
    return cudaLaunchKernel(&step_stub, (struct dim3){1, 1, 1}, (struct dim3){N, 1, 1}, args, 0,
                            stream);
}

/* The device's ints, each of which should be the same. */
static int value(void)
{
    int *all = mem_zero(N, sizeof *all);
    OK(cudaMemcpy(all, device, BYTES, D2H));
    for (int i = 1; i < N; i++)
        assert_int_equal(all[i], all[0]);
    int first = all[0];
    free(all);
    return first;
}

static void *instantiate(void *graph)
{
    void *exec = NULL;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

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
    {add_callback, 900, false},
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
    OK(cudaGraphInstantiate(&again, graph, 1)); /* cudaGraphInstantiateFlagAutoFreeOnLaunch */
    OK(cudaGraphLaunch(again, s));
    OK(cudaGraphLaunch(again, s));
    OK(cudaFreeAsync(x, s));
    OK(cudaStreamSynchronize(s));
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
#define TEST(name) cmocka_unit_test_setup(name, set_up)
    const struct CMUnitTest tests[] = {
        TEST(what_is_captured_runs_as_it_was_captured),
        TEST(branches_join_and_overlap),
        TEST(broken_rules_have_cudas_codes),
        TEST(begin_and_end_have_their_rules),
        TEST(modes_say_who_may_allocate),
        TEST(an_open_capture_is_told),
        TEST(graphs_are_made_node_by_node),
        TEST(an_executable_graph_is_updated_in_place),
        TEST(graphs_go_into_graphs),
        TEST(a_graph_allocates_memory),
        TEST(memory_of_a_graph_lives_on_until_it_is_freed),
        TEST(memory_of_a_graph_is_not_there_before_or_after),
        TEST(a_graph_records_events_and_waits_for_them),
        TEST(launches_of_one_graph_come_one_after_the_other),
        TEST(forty_small_launches_gain_from_a_graph),
        TEST(right_programs_are_never_blamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
