/* Calls of the CUDA runtime that fail, and some that one might think fail: what each of them
 * returns is asked of the simulated runtime (tests/unit/test_host_sim_codes.c) and of the real one
 * (host_codes.cu); host_codes.txt is what both have to say.
 *
 * Who includes it defines STREAM, EVENT, GRAPH, EXEC, KIND(n), MODE(n), DEVICE_ATTRIBUTE(n),
 * FUNCTION_ATTRIBUTE(n), DIM(x, y, z) and the kernels KERNEL_ADD and KERNEL_BOUND; say(name, code)
 * takes the answers.
 *
 * Nothing here follows a handle that does not exist: the real runtime may crash on it. */
#ifndef STRIDE_TESTS_HOST_CODES_H
#define STRIDE_TESTS_HOST_CODES_H

typedef void say_code(const char *name, int code);

enum { CODE_BYTES = 4096 };

/* The answer, and the end of it: no later call hears of it. */
#define SAY(name, call)                                                                            \
    do {                                                                                           \
        say(name, (int)(call));                                                                    \
        (void)cudaGetLastError();                                                                  \
    } while (0)

static void codes_of_copies(say_code *say)
{
    static char host[2 * CODE_BYTES];
    void *device = 0, *gone = 0;
    (void)cudaMalloc(&device, CODE_BYTES);
    (void)cudaMalloc(&gone, CODE_BYTES);
    (void)cudaFree(gone);
    char *x = (char *)device;
    SAY("copy-wrong-way-to-device", cudaMemcpy(x, host, 64, KIND(2)));
    SAY("copy-wrong-way-to-host", cudaMemcpy(host, x, 64, KIND(1)));
    SAY("copy-host-as-device", cudaMemcpy(x, host, 64, KIND(3)));
    SAY("copy-device-as-host", cudaMemcpy(x, x + 64, 64, KIND(0)));
    SAY("copy-default", cudaMemcpy(x, host, 64, KIND(4)));
    SAY("copy-null-source", cudaMemcpy(x, 0, 64, KIND(1)));
    SAY("copy-null-destination", cudaMemcpy(0, host, 64, KIND(2)));
    SAY("copy-nothing", cudaMemcpy(0, 0, 0, KIND(1)));
    SAY("copy-unknown-kind", cudaMemcpy(x, host, 64, KIND(9)));
    SAY("copy-freed", cudaMemcpy(gone, host, 64, KIND(1)));
    SAY("copy-2d-narrow-pitch", cudaMemcpy2D(x, 8, host, 16, 16, 4, KIND(1)));
    SAY("set-host-memory", cudaMemset(host, 0, 64));
    SAY("set-null", cudaMemset(0, 0, 64));
    SAY("set-nothing", cudaMemset(0, 0, 0));
    (void)cudaFree(device);
}

static void codes_of_memory(say_code *say)
{
    static char plain[2 * CODE_BYTES];
    void *device = 0, *pinned = 0, *other = 0;
    unsigned flags;
    (void)cudaMalloc(&device, CODE_BYTES);
    (void)cudaMallocHost(&pinned, CODE_BYTES);
    SAY("malloc-nothing", cudaMalloc(&other, 0));
    SAY("malloc-too-much", cudaMalloc(&other, (size_t)1 << 50));
    SAY("malloc-async-nothing", cudaMallocAsync(&other, 0, 0));
    SAY("malloc-host-nothing", cudaMallocHost(&other, 0));
    SAY("free-inside", cudaFree((char *)device + 16));
    SAY("free-pinned", cudaFree(pinned));
    SAY("free-stack", cudaFree(&device));
    SAY("free-null", cudaFree(0));
    SAY("free-host-device", cudaFreeHost(device));
    SAY("free-host-plain", cudaFreeHost(plain));
    SAY("free-host-null", cudaFreeHost(0));
    SAY("register", cudaHostRegister(plain, CODE_BYTES, 0));
    SAY("register-twice", cudaHostRegister(plain, CODE_BYTES, 0));
    SAY("unregister-inside", cudaHostUnregister(plain + CODE_BYTES / 2));
    SAY("unregister", cudaHostUnregister(plain));
    SAY("unregister-twice", cudaHostUnregister(plain));
    SAY("unregister-pinned", cudaHostUnregister(pinned));
    SAY("register-nothing", cudaHostRegister(plain, 0, 0));
    SAY("device-pointer-of-plain", cudaHostGetDevicePointer(&other, plain, 0));
    SAY("flags-of-plain", cudaHostGetFlags(&flags, plain));
    SAY("host-alloc-wrong-flags", cudaHostAlloc(&other, 64, 0xff00));
    SAY("free", cudaFree(device));
    SAY("free-twice", cudaFree(device));
    SAY("free-host", cudaFreeHost(pinned));
    SAY("free-host-twice", cudaFreeHost(pinned));
}

static void codes_of_events(say_code *say)
{
    EVENT start, end, plain;
    STREAM stream;
    float ms;
    (void)cudaStreamCreateWithFlags(&stream, 1);
    (void)cudaEventCreateWithFlags(&start, 0);
    (void)cudaEventCreateWithFlags(&end, 0);
    SAY("event-without-timing", cudaEventCreateWithFlags(&plain, 2));
    SAY("event-interprocess-with-timing", cudaEventCreateWithFlags(&end, 4));
    SAY("event-wrong-flags", cudaEventCreateWithFlags(&end, 64));
    (void)cudaEventCreateWithFlags(&end, 0);
    SAY("event-query-never-recorded", cudaEventQuery(start));
    SAY("event-synchronize-never-recorded", cudaEventSynchronize(start));
    SAY("event-wait-never-recorded", cudaStreamWaitEvent(stream, start, 0));
    SAY("elapsed-never-recorded", cudaEventElapsedTime(&ms, start, end));
    (void)cudaEventRecord(start, stream);
    (void)cudaEventRecord(plain, stream);
    (void)cudaEventRecord(end, stream);
    (void)cudaStreamSynchronize(stream);
    SAY("elapsed", cudaEventElapsedTime(&ms, start, end));
    SAY("elapsed-without-timing", cudaEventElapsedTime(&ms, start, plain));
    SAY("elapsed-nowhere", cudaEventElapsedTime(0, start, end));
    SAY("event-wait-wrong-flags", cudaStreamWaitEvent(stream, start, 64));
    SAY("event-record-null", cudaEventRecord(0, stream));
    SAY("event-destroy-null", cudaEventDestroy(0));
    SAY("stream-destroy-null", cudaStreamDestroy(0));
    SAY("stream-wrong-flags", cudaStreamCreateWithFlags(&stream, 64));
    SAY("host-function-null", cudaLaunchHostFunc(0, 0, 0));
    (void)cudaEventDestroy(start);
    (void)cudaEventDestroy(end);
    (void)cudaEventDestroy(plain);
}

static int launch_code(const void *kernel, unsigned grid_x, unsigned grid_y, unsigned block_x,
                       unsigned block_y, size_t shared)
{
    void *x = 0;
    unsigned n = 0;
    void *args[2];
    args[0] = &x;
    args[1] = &n;
    return (int)cudaLaunchKernel(kernel, DIM(grid_x, grid_y, 1), DIM(block_x, block_y, 1), args,
                                 shared, 0);
}

static void codes_of_launches(say_code *say)
{
    static int no_kernel;
    int value;
    SAY("launch", launch_code(KERNEL_ADD, 1, 1, 1, 1, 0));
    SAY("launch-no-blocks", launch_code(KERNEL_ADD, 0, 1, 1, 1, 0));
    SAY("launch-no-threads", launch_code(KERNEL_ADD, 1, 1, 0, 1, 0));
    SAY("launch-1025-threads", launch_code(KERNEL_ADD, 1, 1, 1025, 1, 0));
    SAY("launch-32x64-threads", launch_code(KERNEL_ADD, 1, 1, 32, 64, 0));
    SAY("launch-65536-rows", launch_code(KERNEL_ADD, 1, 65536, 1, 1, 0));
    SAY("launch-past-bounds", launch_code(KERNEL_BOUND, 1, 1, 65, 1, 0));
    SAY("launch-49k-shared", launch_code(KERNEL_ADD, 1, 1, 1, 1, 49 * 1024));
    SAY("launch-1m-shared", launch_code(KERNEL_ADD, 1, 1, 1, 1, 1 << 20));
    SAY("launch-no-kernel", launch_code(&no_kernel, 1, 1, 1, 1, 0));
    SAY("attribute-shared", cudaFuncSetAttribute(KERNEL_ADD, FUNCTION_ATTRIBUTE(8), 64 * 1024));
    SAY("launch-64k-shared", launch_code(KERNEL_ADD, 1, 1, 1, 1, 64 * 1024));
    SAY("attribute-1m-shared", cudaFuncSetAttribute(KERNEL_ADD, FUNCTION_ATTRIBUTE(8), 1 << 20));
    SAY("set-device-99", cudaSetDevice(99));
    SAY("device-attribute-0", cudaDeviceGetAttribute(&value, DEVICE_ATTRIBUTE(0), 0));
    SAY("synchronize", cudaDeviceSynchronize());
}

/* One capture in which `sin` is done; then what its end says. */
enum sin {
    SIN_NONE,
    SIN_SYNCHRONIZE,
    SIN_SYNCHRONIZE_DEVICE,
    SIN_QUERY,
    SIN_MALLOC,
    SIN_COPY,
    SIN_LEGACY,
    SIN_EVENT_OUTSIDE,
    SIN_EVENT_QUERY,
    SIN_FORK,
    SIN_DESTROY,
    SIN_BEGIN_AGAIN,
    SIN_OTHER_STREAM
};

static void code_of_sin(say_code *say, enum sin sin, unsigned flags, const char *name,
                        const char *end_name)
{
    static char host[64];
    STREAM stream, other;
    EVENT event;
    GRAPH graph = 0;
    void *device = 0, *more = 0;
    (void)cudaMalloc(&device, 64);
    (void)cudaStreamCreateWithFlags(&stream, flags);
    (void)cudaStreamCreateWithFlags(&other, 1);
    (void)cudaEventCreateWithFlags(&event, 0);
    (void)cudaEventRecord(event, other);
    (void)cudaDeviceSynchronize();
    (void)cudaStreamBeginCapture(stream, MODE(0));
    switch (sin) {
    case SIN_NONE:
        SAY(name, cudaMemsetAsync(device, 0, 64, stream));
        break;
    case SIN_SYNCHRONIZE:
        SAY(name, cudaStreamSynchronize(stream));
        break;
    case SIN_SYNCHRONIZE_DEVICE:
        SAY(name, cudaDeviceSynchronize());
        break;
    case SIN_QUERY:
        SAY(name, cudaStreamQuery(stream));
        break;
    case SIN_MALLOC:
        SAY(name, cudaMalloc(&more, 64));
        break;
    case SIN_COPY:
        SAY(name, cudaMemcpy(device, host, 64, KIND(1)));
        break;
    case SIN_LEGACY:
        SAY(name, cudaMemsetAsync(device, 0, 64, 0));
        break;
    case SIN_EVENT_OUTSIDE:
        SAY(name, cudaStreamWaitEvent(stream, event, 0));
        break;
    case SIN_EVENT_QUERY:
        (void)cudaEventRecord(event, stream);
        SAY(name, cudaEventQuery(event));
        break;
    case SIN_FORK:
        (void)cudaEventRecord(event, stream);
        (void)cudaStreamWaitEvent(other, event, 0);
        SAY(name, cudaMemsetAsync(device, 0, 64, other));
        break;
    case SIN_DESTROY:
        SAY(name, cudaFree(device));
        break;
    case SIN_BEGIN_AGAIN:
        SAY(name, cudaStreamBeginCapture(stream, MODE(0)));
        break;
    case SIN_OTHER_STREAM:
        SAY(name, cudaStreamEndCapture(other, &graph));
        break;
    }
    SAY(end_name, cudaStreamEndCapture(stream, &graph));
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaStreamDestroy(stream);
    (void)cudaStreamDestroy(other);
    (void)cudaEventDestroy(event);
    (void)cudaFree(device);
    (void)cudaGetLastError();
}

static void codes_of_captures(say_code *say)
{
    GRAPH graph = 0;
    SAY("capture-default-stream", cudaStreamBeginCapture(0, MODE(0)));
    SAY("capture-end-without-begin", cudaStreamEndCapture(0, &graph));
#define SIN(sin, flags, name) code_of_sin(say, sin, flags, "capture-" name, "capture-end-" name)
    SIN(SIN_NONE, 1, "nothing-wrong");
    SIN(SIN_SYNCHRONIZE, 1, "synchronize");
    SIN(SIN_SYNCHRONIZE_DEVICE, 1, "synchronize-device");
    SIN(SIN_QUERY, 1, "query");
    SIN(SIN_MALLOC, 1, "malloc");
    SIN(SIN_COPY, 1, "copy");
    SIN(SIN_COPY, 0, "copy-blocking");
    SIN(SIN_LEGACY, 1, "legacy");
    SIN(SIN_LEGACY, 0, "legacy-blocking");
    SIN(SIN_EVENT_OUTSIDE, 1, "event-outside");
    SIN(SIN_EVENT_QUERY, 1, "event-query");
    SIN(SIN_FORK, 1, "fork-without-join");
    SIN(SIN_DESTROY, 1, "free");
    SIN(SIN_BEGIN_AGAIN, 1, "begin-again");
    SIN(SIN_OTHER_STREAM, 1, "other-stream");
#undef SIN
}

static void codes_of_graphs(say_code *say)
{
    STREAM stream;
    GRAPH one = 0, two = 0;
    EXEC exec = 0;
    void *device = 0;
    (void)cudaMalloc(&device, 64);
    (void)cudaStreamCreateWithFlags(&stream, 1);
    for (int i = 0; i < 2; i++) {
        (void)cudaStreamBeginCapture(stream, MODE(0));
        (void)cudaMemsetAsync(device, 0, 64, stream);
        if (i)
            (void)cudaMemsetAsync(device, 1, 32, stream);
        (void)cudaStreamEndCapture(stream, i ? &two : &one);
    }
    SAY("graph-instantiate", cudaGraphInstantiate(&exec, one, 0));
    SAY("graph-launch", cudaGraphLaunch(exec, stream));
    SAY("graph-update-same", cudaGraphExecUpdate(exec, one, 0));
    SAY("graph-synchronize", cudaStreamSynchronize(stream));
    SAY("graph-instantiate-null", cudaGraphInstantiate(&exec, 0, 0));
    SAY("graph-launch-null", cudaGraphLaunch(0, stream));
    (void)cudaFree(device);
}

static void host_codes(say_code *say)
{
    codes_of_copies(say);
    codes_of_memory(say);
    codes_of_events(say);
    codes_of_launches(say);
    codes_of_captures(say);
    codes_of_graphs(say);
}

#endif
