/* The simulated runtime's answers: error codes and what is said with them, events, queries, host
 * functions, memory. */
#include "host_sim.h"

enum { N = 1024, BYTES = N * 4 };

/* The call failed so, and the log says so, with these words. */
static void assert_failed(int result, int want, const char *words)
{
    struct failed_call failed;
    assert_int_equal(result, want);
    assert_true(calls_first_failure(&failed));
    assert_int_equal(failed.result, want);
    if (!strstr(failed.detail, words))
        print_message("said: %s\n", failed.detail);
    assert_non_null(strstr(failed.detail, words));
    if (want != 600) { /* "not ready" is an answer */
        assert_int_equal(cudaPeekAtLastError(), want);
        assert_int_equal(cudaGetLastError(), want);
    }
    assert_int_equal(cudaGetLastError(), 0);
    calls_reset();
}

/* ---- copies */

static void copies_that_cannot_be(void **state)
{
    char *x = AT(40, device_new(BYTES)), *gone = AT(41, device_new(64)), host[BYTES];
    (void)state;
    OK(42, cudaFree(gone));
    assert_failed(cudaMemcpy(x, host, BYTES + 96, TO_DEVICE), 1, "4192 bytes from byte 0 on");
    assert_failed(cudaMemcpy(x + 8, host, BYTES, TO_DEVICE), 1, "the memory of line 40, which has");
    assert_failed(cudaMemcpy(host, x, BYTES, TO_DEVICE), 1, "cudaMemcpyDeviceToHost, not");
    assert_failed(cudaMemcpy(x, host, BYTES, WITHIN), 1, "cudaMemcpyHostToDevice, not");
    assert_failed(cudaMemcpy(x, NULL, BYTES, TO_DEVICE), 1, "the source is a null pointer");
    assert_failed(cudaMemcpy(gone, host, 64, TO_DEVICE), 1, "was given back in line 42");
    assert_failed(cudaMemcpy(x + (1 << 20), host, 64, TO_DEVICE), 1, "behind the end of");
    assert_failed(cudaMemcpy(x, host, 64, 9), 21, "");
    assert_failed(cudaMemcpy2D(x, 8, host, 16, 16, 4, TO_DEVICE), 12, "");
    assert_failed(cudaMemset(host, 0, 16), 1, "belongs to no allocation");
    assert_failed(cudaMemcpyAsync(x, host, SIZE_MAX, TO_DEVICE, NULL), 1, "do not exist");
    OK(43, cudaMemcpy(x, host, 0, TO_DEVICE));
    OK(44, cudaFree(x));
}

/* The addresses say which way it goes; a kind that does not fit them does no harm as long as what
 * it calls device memory is memory that the device can use. */
static void copies_with_a_misleading_kind(void **state)
{
    uint32_t *pinned = pinned_new(8), plain[2] = {7, 8}, got = 0;
    uint32_t *x = device_new(8), *y = device_new(8);
    (void)state;
    pinned[0] = 5;
    OK(1, cudaMemcpy(x, pinned, 4, TO_HOST));
    OK(2, cudaMemcpy(y, x, 4, TO_DEVICE));
    OK(3, cudaMemcpy(x + 1, y, 4, 0));
    OK(4, cudaMemcpy(pinned + 1, x + 1, 4, WITHIN));
    assert_int_equal(pinned[1], 5);
    assert_failed(cudaMemcpy(x, plain, 4, TO_HOST), 1, "cudaMemcpyHostToDevice, not");
    OK(5, cudaMemcpy(x, plain, 4, 0));
    OK(6, cudaMemcpy(&got, x, 4, TO_HOST));
    assert_int_equal(got, 7);
    OK(7, cudaFree(x));
    OK(8, cudaFree(y));
    OK(9, cudaFreeHost(pinned));
    assert_clean();
}

/* No bytes are no memory. */
static void memory_of_no_bytes(void **state)
{
    void *x = &state, *s = stream_new(0);
    (void)state;
    OK(1, cudaMallocAsync(&x, 0, s));
    assert_null(x);
    OK(2, cudaFreeAsync(x, s));
    OK(3, cudaStreamDestroy(s));
    assert_clean();
}

static void copies_in_two_dimensions(void **state)
{
    enum { WIDTH = 12, ROWS = 5 };
    size_t pitch;
    void *x;
    char from[ROWS][16], to[ROWS][WIDTH];
    (void)state;
    for (int i = 0; i < ROWS * 16; i++)
        from[i / 16][i % 16] = (char)i;
    OK(1, cudaMallocPitch(&x, &pitch, WIDTH, ROWS));
    assert_true(pitch >= WIDTH && pitch % 256 == 0);
    OK(2, cudaMemset2D(x, pitch, 3, WIDTH, ROWS));
    OK(3, cudaMemcpy2D(x, pitch, from, 16, WIDTH, ROWS - 1, TO_DEVICE));
    OK(4, cudaMemcpy2D(to, WIDTH, x, pitch, WIDTH, ROWS, TO_HOST));
    for (int row = 0; row < ROWS - 1; row++)
        assert_memory_equal(to[row], from[row], WIDTH);
    assert_int_equal(to[ROWS - 1][WIDTH - 1], 3);
    OK(5, cudaFree(x));
    assert_clean();
}

static void variables_of_the_program(void **state)
{
    uint32_t three = 3, got = 0, in[4] = {1, 2, 3, 4}, out[4];
    void *x = device_new(16), *y = device_new(16), *where;
    size_t bytes;
    (void)state;
    OK(1, cudaMemcpyToSymbol(&variable_factor, &three, 4, 0, TO_DEVICE));
    OK(2, cudaMemcpy(x, in, 16, TO_DEVICE));
    OK(3, run_move(y, x, 4, NULL));
    OK(4, cudaMemcpy(out, y, 16, TO_HOST));
    assert_int_equal(out[3], 12);
    OK(5, cudaMemset(x, 0, 16));
    OK(6, run_count(x, NULL));
    OK(7, cudaMemcpyFromSymbol(&got, &variable_total, 4, 0, TO_HOST));
    assert_int_equal(got, 32);
    OK(8, cudaGetSymbolAddress(&where, &variable_total));
    OK(9, cudaMemcpy(&got, where, 4, EITHER));
    OK(10, cudaGetSymbolSize(&bytes, &variable_total));
    assert_int_equal(bytes, 4);
    assert_failed(cudaMemcpyToSymbol(&variable_factor, in, 8, 0, TO_DEVICE), 1, "over the end of");
    assert_failed(cudaMemcpyToSymbol(&three, in, 4, 0, TO_DEVICE), 13, "");
    OK(11, cudaFree(x));
    OK(12, cudaFree(y));
    assert_clean();
}

/* ---- memory */

static void memory_that_is_not_theirs(void **state)
{
    char *x = AT(50, device_new(64)), *h = AT(51, pinned_new(64)), here;
    (void)state;
    assert_failed(cudaFree(x + 8), 1, "points into the memory of line 50");
    assert_failed(cudaFree(h), 1, "give it to cudaFreeHost");
    assert_failed(cudaFreeHost(x), 1, "give it to cudaFree");
    assert_failed(cudaFree(&here), 1, "never allocated");
    assert_failed(cudaHostUnregister(h), 1, "give it to cudaFreeHost");
    OK(52, cudaFree(x));
    OK(53, cudaFreeHost(h));
    assert_failed(cudaFree(x), 1, "was given back in line 52");
    OK(54, cudaFree(NULL));
    OK(55, cudaFreeHost(NULL));
    assert_failed(cudaMalloc(NULL, 4), 1, "");
    void *much;
    assert_failed(cudaMalloc(&much, (size_t)1 << 50), 2, "the simulated device has");
    assert_failed(cudaHostAlloc(&much, 4, 0xff00), 1, "");
    assert_clean();
}

static void registered_memory(void **state)
{
    char *plain = malloc(8192);
    struct {
        int type, device;
        void *on_device, *on_host;
        long reserved[8];
    } attributes;
    (void)state;
    OK(60, cudaHostRegister(plain, 8192, 0));
    assert_failed(cudaHostRegister(plain + 16, 32, 0), 712, "overlaps the memory of line 60");
    assert_failed(cudaHostUnregister(plain + 16), 1, "points into the memory of line 60");
    OK(61, cudaPointerGetAttributes(&attributes, plain + 5));
    assert_int_equal(attributes.type, 1);
    OK(62, cudaHostUnregister(plain));
    assert_failed(cudaHostUnregister(plain), 713, "was given back in line 62");
    OK(63, cudaPointerGetAttributes(&attributes, plain));
    assert_int_equal(attributes.type, 0);
    free(plain);
    assert_clean();
}

/* ---- handles */

static void handles_that_are_none(void **state)
{
    void *stream = AT(70, stream_new(0)), *event = AT(71, event_new());
    void *const wild[] = {(void *)3, (void *)~(uintptr_t)63, &stream, &kernel_add, event};
    (void)state;
    for (size_t i = 0; i < sizeof wild / sizeof wild[0]; i++) {
        assert_failed(cudaStreamSynchronize(wild[i]), 400, "never created");
        assert_failed(run_add(NULL, 1, wild[i]), 400, "never created");
        assert_failed(cudaStreamDestroy(wild[i]), 400, "never created");
        assert_failed(cudaEventSynchronize((char *)wild[i] + 1), 400, "");
        assert_failed(cudaStreamWaitEvent(stream, (char *)wild[i] + 1, 0), 400, "");
    }
    assert_failed(cudaEventRecord(NULL, stream), 400, "null pointer");
    OK(72, cudaStreamDestroy(stream));
    OK(73, cudaEventDestroy(event));
    assert_failed(cudaStreamQuery(stream), 400, "the stream of line 70 was destroyed");
    assert_failed(cudaStreamDestroy(stream), 400, "the stream of line 70 was destroyed");
    assert_failed(cudaEventQuery(event), 400, "the event of line 71 was destroyed");
    assert_failed(cudaStreamDestroy(NULL), 400, "");
    assert_clean();
}

/* ---- launches */

static int shape(struct dim3 grid, struct dim3 block, size_t shared, const void *kernel)
{
    void *x = NULL;
    unsigned n = 0;
    void *args[] = {&x, &n, &n};
    return cudaLaunchKernel(kernel, grid, block, args, shared, NULL);
}

static void launches_that_cannot_be(void **state)
{
    struct dim3 one = {1, 1, 1};
    void *kernel;
    (void)state;
    assert_failed(shape((struct dim3){0, 1, 1}, one, 0, &kernel_add), 1, "nothing in it");
    assert_failed(shape(one, (struct dim3){1025, 1, 1}, 0, &kernel_add), 1, "at most 1024");
    assert_failed(shape(one, (struct dim3){32, 64, 1}, 0, &kernel_add), 1, "at most 1024");
    assert_failed(shape((struct dim3){1, 65536, 1}, one, 0, &kernel_add), 1, "too large");
    assert_failed(shape(one, (struct dim3){65, 1, 1}, 0, &kernel_bound), 1, "bound to 64");
    assert_failed(shape(one, one, 50000, &kernel_add), 1, "dynamic shared memory");
    assert_failed(shape(one, one, 0, &one), 400, "not a kernel");
    OK(1, cudaFuncSetAttribute(&kernel_add, 8, 60000));
    OK(2, shape(one, one, 50000, &kernel_add));
    OK(3, __cudaGetKernel(&kernel, &kernel_add));
    OK(4, shape(one, one, 0, kernel));
    assert_int_equal(__cudaPushCallConfiguration(one, one, 16, (void *)2), 0);
    struct dim3 grid, block;
    size_t shared;
    void *stream;
    OK(5, __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    assert_int_equal(shared, 16);
    assert_ptr_equal(stream, (void *)2);
    assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), 52);
    cudaGetLastError();
    calls_reset();
    assert_clean();
}

/* ---- events and queries */

static void what_events_say(void **state)
{
    void *start = AT(80, event_new()), *end = AT(81, event_new()), *plain, *s = stream_new(0);
    void *x = device_new(BYTES);
    float ms;
    (void)state;
    OK(82, cudaEventCreateWithFlags(&plain, NO_TIMING));
    OK(83, cudaEventQuery(start)); /* never recorded: nothing to wait for */
    OK(84, cudaMemset(x, 0, BYTES));
    assert_failed(cudaEventElapsedTime(&ms, start, end), 400, "of line 80 was never recorded");
    OK(85, cudaEventRecord(start, s));
    OK(86, run_add(x, N, s));
    OK(87, cudaEventRecord(end, s));
    OK(88, cudaEventRecord(plain, s));
    assert_failed(cudaEventElapsedTime(&ms, start, end), 600, "has not happened yet");
    OK(89, cudaEventSynchronize(plain));
    assert_failed(cudaEventElapsedTime(&ms, start, plain), 400, "cudaEventDisableTiming");
    OK(90, cudaEventElapsedTime(&ms, start, end));
    assert_true(ms > 0.001f && ms < 1);
    OK(91, cudaEventElapsedTime_v2(&ms, end, start));
    assert_true(ms < 0);
    assert_failed(cudaEventCreateWithFlags(&plain, 4), 1, ""); /* interprocess with timing */
    OK(92, cudaEventDestroy(start));
    OK(93, cudaEventDestroy(end));
    OK(94, cudaEventDestroy(plain));
    OK(95, cudaStreamDestroy(s));
    OK(96, cudaFree(x));
    assert_clean();
}

static void asking_again_and_again(void **state)
{
    void *x = device_new(BYTES), *s = stream_new(0), *e = event_new();
    unsigned asked = 0;
    struct failed_call failed;
    (void)state;
    OK(1, cudaMemset(x, 0, BYTES));
    OK(2, run_add(x, N, s));
    OK(3, cudaEventRecord(e, s));
    assert_int_equal(cudaEventQuery(e), 600);
    while (cudaStreamQuery(s) == 600)
        assert_true(++asked < 100);
    assert_true(asked > 0);
    OK(4, cudaEventQuery(e));
    OK(5, cudaMemsetAsync(x, 0, BYTES, NULL)); /* a query that says "done" orders */
    assert_int_equal(cudaGetLastError(), 0);   /* that it was not ready is not kept */
    assert_false(calls_first_failure(&failed));
    OK(6, cudaFree(x));
    OK(7, cudaStreamDestroy(s));
    OK(8, cudaEventDestroy(e));
    assert_clean();
}

/* ---- host functions */

static struct {
    uint32_t seen;
    int inside, status;
    void *stream;
    uint32_t *memory;
} host_call;

static void look(void *user)
{
    host_call.seen = *(uint32_t *)user;
    host_call.inside = cudaStreamSynchronize(NULL);
}

static void look_back(void *stream, int status, void *user)
{
    host_call.stream = stream;
    host_call.status = status;
    host_call.seen = *(uint32_t *)user;
}

static void host_functions(void **state)
{
    void *x = device_new(BYTES), *s = stream_new(NON_BLOCKING);
    uint32_t *h = pinned_new(BYTES);
    struct failed_call failed;
    (void)state;
    memset(&host_call, 0, sizeof host_call);
    OK(1, cudaMemsetAsync(x, 0, BYTES, s));
    OK(2, run_add(x, N, s));
    OK(3, cudaMemcpyAsync(h, x, BYTES, TO_HOST, s));
    OK(4, cudaLaunchHostFunc(s, look, h));
    assert_int_equal(host_call.seen, 0);
    OK(5, run_add(x, N, s));
    OK(6, cudaMemcpyAsync(h, x, BYTES, TO_HOST, s));
    OK(7, cudaStreamSynchronize(s));
    assert_int_equal(host_call.seen, 1);
    assert_int_equal(host_call.inside, 800);
    assert_true(calls_first_failure(&failed));
    assert_int_equal(failed.api, API_cudaStreamSynchronize);
    OK(8, cudaStreamAddCallback(s, look_back, h, 0));
    OK(9, cudaDeviceSynchronize());
    assert_int_equal(host_call.seen, 2);
    assert_int_equal(host_call.status, 0);
    assert_ptr_equal(host_call.stream, s);
    calls_reset();
    assert_int_equal(cudaLaunchHostFunc(s, NULL, NULL), 1);
    cudaGetLastError();
    OK(10, cudaFree(x));
    OK(11, cudaFreeHost(h));
    OK(12, cudaStreamDestroy(s));
    assert_clean();
}

int main(void)
{
#define T(name) cmocka_unit_test_teardown(name, host_sim_settle)
    const struct CMUnitTest tests[] = {
        T(copies_that_cannot_be), T(copies_with_a_misleading_kind), T(copies_in_two_dimensions),
        T(memory_of_no_bytes),    T(variables_of_the_program),      T(memory_that_is_not_theirs),
        T(registered_memory),     T(handles_that_are_none),         T(launches_that_cannot_be),
        T(what_events_say),       T(asking_again_and_again),        T(host_functions),
    };
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}
