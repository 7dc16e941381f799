// A program of known pieces in known streams, recorded by CUPTI. It is what harness/host/cupti*.c are
// held against: in mode `raw` the records are printed as CUPTI's own header declares them, next to the
// spans that our decoder makes of the same bytes; in mode `door` cupti.c itself records. tests/gpu/check_cupti
// builds and runs it; CUPTI's header is a second account of the layout, and only here.
//
//   cupti raw|door|late PATH-OF-LIBCUPTI      cupti time PATH-OF-LIBCUPTI      cupti plain
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <cupti.h>
#include <dlfcn.h>

extern "C" {
#include "harness/host/cupti.h"
#include "harness/host/cupti_records.h"
const char *msg_get(const char *english) { return english; }
}

static void must(cudaError_t result, int line)
{
    if (result != cudaSuccess) {
        printf("FAIL line %d: %s\n", line, cudaGetErrorString(result));
        exit(1);
    }
}

// Each call is entered as stride-host's wrappers do it, with its line as the site.
#define CALL(x)                                                                                    \
    do {                                                                                           \
        cupti_enter((const void *)(uintptr_t)__LINE__);                                            \
        must(x, __LINE__);                                                                         \
        cupti_leave();                                                                             \
    } while (0)
#define LAUNCH(...)                                                                                \
    do {                                                                                           \
        cupti_enter((const void *)(uintptr_t)__LINE__);                                            \
        __VA_ARGS__;                                                                               \
        cupti_leave();                                                                             \
        must(cudaGetLastError(), __LINE__);                                                        \
    } while (0)

static int line_of(const void *site)
{
    return (int)(uintptr_t)site;
}

__global__ void work(float *data, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = data[i];
    for (int k = 0; k < steps; k++)
        x = x * 1.0000001f + 0.5f;
    data[i] = x;
}

enum { CHUNKS = 8, STREAMS = 3, CHUNK = 1 << 20, NODES = 5, LAUNCHES = 3 };

struct program {
    float *host, *device, *pageable;
    cudaStream_t streams[STREAMS];
    cudaEvent_t event;
    cudaGraphExec_t graph;
};

static void open_program(program *p)
{
    size_t bytes = (size_t)CHUNKS * CHUNK * sizeof(float);
    must(cudaMallocHost(&p->host, bytes), __LINE__);
    must(cudaMalloc(&p->device, bytes), __LINE__);
    p->pageable = (float *)calloc(CHUNK, sizeof(float));
    memset(p->host, 0, bytes);
    for (auto &stream : p->streams)
        must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), __LINE__);
    must(cudaEventCreateWithFlags(&p->event, cudaEventDisableTiming), __LINE__);
    cudaGraph_t graph;
    must(cudaStreamBeginCapture(p->streams[0], cudaStreamCaptureModeGlobal), __LINE__);
    for (int i = 0; i < NODES; i++)
        work<<<256, 256, 0, p->streams[0]>>>(p->device, 65536, 10);
    must(cudaStreamEndCapture(p->streams[0], &graph), __LINE__);
    must(cudaGraphInstantiate(&p->graph, graph, 0), __LINE__);
    must(cudaGraphDestroy(graph), __LINE__);
}

static int line_h2d, line_kernel, line_d2h, line_wait, line_sync, line_graph, line_memset, line_pageable;
#define HERE(name, x) do { line_##name = __LINE__; x; } while (0)

static void run_program(program *p)
{
    for (int i = 0; i < CHUNKS; i++) {
        cudaStream_t s = p->streams[i % STREAMS];
        float *host = p->host + (size_t)i * CHUNK, *device = p->device + (size_t)i * CHUNK;
        HERE(h2d, CALL(cudaMemcpyAsync(device, host, CHUNK * sizeof(float), cudaMemcpyHostToDevice, s)));
        HERE(kernel, LAUNCH(work<<<CHUNK / 256, 256, 0, s>>>(device, CHUNK, 2000)));
        HERE(d2h, CALL(cudaMemcpyAsync(host, device, CHUNK * sizeof(float), cudaMemcpyDeviceToHost, s)));
    }
    // streams[0] waits for a long kernel in streams[1], then goes on
    LAUNCH(work<<<CHUNK / 256, 256, 0, p->streams[1]>>>(p->device, CHUNK, 40000));
    CALL(cudaEventRecord(p->event, p->streams[1]));
    HERE(wait, CALL(cudaStreamWaitEvent(p->streams[0], p->event, 0)));
    HERE(memset, CALL(cudaMemsetAsync(p->device, 0, 4096, p->streams[0])));
    HERE(sync, CALL(cudaStreamSynchronize(p->streams[0])));
    for (int i = 0; i < LAUNCHES; i++)
        HERE(graph, CALL(cudaGraphLaunch(p->graph, p->streams[0])));
    LAUNCH(work<<<1, 32>>>(p->device, 32, 1)); // the default stream
    HERE(pageable, CALL(cudaMemcpy(p->device, p->pageable, CHUNK * sizeof(float), cudaMemcpyHostToDevice)));
    must(cudaDeviceSynchronize(), __LINE__); // the harness's own: no site
}

static void print_spans(const spans *spans)
{
    for (size_t i = 0; i < spans->count; i++) {
        const span &s = spans->items[i];
        printf("span %-6s %12.3f %12.3f stream %2d graph %u bytes %9llu pageable %u line %3d %s\n", span_kind_name(s.kind),
               s.from_us, s.to_us, s.stream == SPAN_HOST_ROW ? -1 : (int)s.stream, s.graph,
               (unsigned long long)s.bytes, s.pageable, s.line, s.name);
    }
}

static int bad;

static void expect(const char *what, long want, long got)
{
    printf("%s %s: %ld", want == got ? "ok" : "FAIL", what, got);
    printf(want == got ? "\n" : ", expected %ld\n", want);
    bad += want != got;
}

static long count(const spans *spans, span_kind kind, int line)
{
    long found = 0;
    for (size_t i = 0; i < spans->count; i++)
        found += spans->items[i].kind == kind && (line == 0 || spans->items[i].line == line);
    return found;
}

static void judge(const spans *spans, bool lines)
{
    unsigned graphs = 0, streams = 0;
    long in_graphs = 0, pageable = 0, default_stream = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const span &s = spans->items[i];
        graphs = s.graph > graphs ? s.graph : graphs;
        in_graphs += s.graph != 0;
        pageable += s.pageable;
        default_stream += s.stream == 0;
        if (s.stream != SPAN_HOST_ROW && s.stream > streams)
            streams = s.stream;
    }
    expect("copies to the device", CHUNKS, count(spans, SPAN_H2D, lines ? line_h2d : 0) - (lines ? 0 : pageable));
    expect("copies back", CHUNKS, count(spans, SPAN_D2H, lines ? line_d2h : 0));
    expect("kernels", CHUNKS + 1 + NODES * LAUNCHES + 1, count(spans, SPAN_KERNEL, 0));
    expect("memsets", 1, count(spans, SPAN_MEMSET, lines ? line_memset : 0));
    expect("graph launches", LAUNCHES, graphs);
    expect("kernels of graphs", NODES * LAUNCHES, in_graphs);
    expect("streams", STREAMS, streams);
    expect("in the default stream", 1, default_stream > 1);
    expect("pageable copies", 1, pageable > 0);
    if (lines) { // without them the host's own waits would be counted, too
        expect("waits of a stream", 1, count(spans, SPAN_WAIT, line_wait));
        expect("kernels of that line", CHUNKS, count(spans, SPAN_KERNEL, line_kernel));
        expect("kernels of the launch's line", NODES * LAUNCHES, count(spans, SPAN_KERNEL, line_graph));
        expect("pageable copy of its line", 1, count(spans, SPAN_H2D, line_pageable) > 0);
        expect("waits of the host", 1, count(spans, SPAN_WAIT, line_sync));
        // A pageable copy may come back while its last part is still on the way.
        printf("note waits in a plain copy: %ld\n", count(spans, SPAN_WAIT, line_pageable));
    }
}

// ---- raw: the records by CUPTI's own header

static cupti_log notes;
static std::vector<std::vector<char>> kept;

static void CUPTIAPI raw_requested(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 1 << 20;
    *buffer = (uint8_t *)aligned_alloc(8, *size);
    *most = 0;
}

static CUptiResult (*next_record)(uint8_t *, size_t, CUpti_Activity **);

static void CUPTIAPI raw_completed(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    CUpti_Activity *record = nullptr;
    while (valid && next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
        cupti_log_add(&notes, record);
        size_t size = record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? sizeof(CUpti_ActivityKernel10)
                      : record->kind == CUPTI_ACTIVITY_KIND_MEMCPY          ? sizeof(CUpti_ActivityMemcpy6)
                      : record->kind == CUPTI_ACTIVITY_KIND_MEMSET          ? sizeof(CUpti_ActivityMemset4)
                                                                            : 0;
        if (size)
            kept.emplace_back((char *)record, (char *)record + size);
    }
    free(buffer);
}

// What the header says of one record, as the span that it should be.
static span truth(const CUpti_Activity *record, uint64_t origin)
{
    span s = {};
    uint64_t start, end;
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        auto *k = (const CUpti_ActivityKernel10 *)record;
        s.kind = SPAN_KERNEL;
        start = k->start, end = k->end;
        printf("raw  kernel %12.3f %12.3f stream %2u graph %u correlation %u %s\n", (double)(start - origin) / 1000,
               (double)(end - origin) / 1000, k->streamId, k->graphId, k->correlationId, k->name);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        auto *m = (const CUpti_ActivityMemcpy6 *)record;
        s.kind = m->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD   ? SPAN_H2D
                 : m->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH ? SPAN_D2H
                                                                  : SPAN_D2D;
        s.bytes = m->bytes;
        s.pageable = (s.kind == SPAN_H2D ? m->srcKind : m->dstKind) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
        start = m->start, end = m->end;
        printf("raw  %-6s %12.3f %12.3f stream %2u bytes %llu source %u target %u flags %u correlation %u\n",
               span_kind_name(s.kind), (double)(start - origin) / 1000, (double)(end - origin) / 1000, m->streamId,
               (unsigned long long)m->bytes, m->srcKind, m->dstKind, m->flags, m->correlationId);
    } else {
        auto *m = (const CUpti_ActivityMemset4 *)record;
        s.kind = SPAN_MEMSET;
        s.bytes = m->bytes;
        start = m->start, end = m->end;
        printf("raw  memset %12.3f %12.3f stream %2u bytes %llu correlation %u\n", (double)(start - origin) / 1000,
               (double)(end - origin) / 1000, m->streamId, (unsigned long long)m->bytes, m->correlationId);
    }
    s.from_us = (double)(start - origin) / 1000;
    s.to_us = (double)(end - origin) / 1000;
    return s;
}

static uint64_t start_of(const CUpti_Activity *record)
{
    return record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? ((const CUpti_ActivityKernel10 *)record)->start
           : record->kind == CUPTI_ACTIVITY_KIND_MEMCPY          ? ((const CUpti_ActivityMemcpy6 *)record)->start
                                                                 : ((const CUpti_ActivityMemset4 *)record)->start;
}

template <class T> static T symbol(void *library, const char *name)
{
    return (T)dlsym(library, name);
}

static int raw(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        printf("FAIL %s\n", dlerror());
        return 1;
    }
    auto enable = symbol<decltype(&cuptiActivityEnable)>(library, "cuptiActivityEnable");
    auto flush = symbol<decltype(&cuptiActivityFlushAll)>(library, "cuptiActivityFlushAll");
    auto callbacks = symbol<decltype(&cuptiActivityRegisterCallbacks)>(library, "cuptiActivityRegisterCallbacks");
    auto stream_id = symbol<decltype(&cuptiGetStreamIdEx)>(library, "cuptiGetStreamIdEx");
    next_record = symbol<decltype(next_record)>(library, "cuptiActivityGetNextRecord");
    callbacks(raw_requested, raw_completed);
    program p = {};
    open_program(&p);
    for (auto kind : {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                      CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION})
        if (enable(kind) != CUPTI_SUCCESS)
            printf("FAIL kind %d cannot be enabled\n", kind), bad++;
    run_program(&p);
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    cupti_reading reading = {UINT32_MAX, nullptr, nullptr};
    CUcontext context = nullptr;
    cuCtxGetCurrent(&context);
    stream_id(context, nullptr, 0, &reading.default_stream);
    printf("default stream: %u\n", reading.default_stream);
    spans spans = {};
    cupti_log_spans(&notes, &reading, &spans);
    uint64_t origin = UINT64_MAX;
    for (auto &one : kept)
        origin = std::min(origin, start_of((const CUpti_Activity *)one.data()));
    long matched = 0, device = 0;
    for (auto &one : kept) {
        span want = truth((const CUpti_Activity *)one.data(), origin);
        for (size_t i = 0; i < spans.count; i++) {
            const span &got = spans.items[i];
            if (got.kind == want.kind && got.from_us == want.from_us && got.to_us == want.to_us &&
                got.bytes == want.bytes && got.pageable == want.pageable) {
                matched++;
                break;
            }
        }
    }
    print_spans(&spans);
    for (size_t i = 0; i < spans.count; i++)
        device += spans.items[i].kind != SPAN_WAIT;
    expect("records that are a span with the same interval", (long)kept.size(), matched);
    expect("spans on the device", (long)kept.size(), device);
    judge(&spans, false);
    return bad != 0;
}

// ---- door: cupti.c records; late: it is opened when context and graph exist already

static int door(const char *path, bool late)
{
    err why = {};
    program p = {};
    if (late)
        open_program(&p);
    struct cupti *cupti = cupti_open(path, &why);
    if (!cupti) {
        printf("FAIL %s\n", why.text);
        return 1;
    }
    if (!late)
        open_program(&p);
    run_program(&p); // unrecorded
    for (int round = 0; round < 2; round++) {
        spans spans = {};
        if (!cupti_start(cupti, &why)) {
            printf("FAIL start: %s\n", why.text);
            return 1;
        }
        run_program(&p);
        if (!cupti_stop(cupti, line_of, &spans, &why)) {
            printf("FAIL stop: %s\n", why.text);
            return 1;
        }
        print_spans(&spans);
        judge(&spans, true);
        spans_free(&spans);
    }
    cupti_close(cupti);
    return bad != 0;
}

// ---- time: what CUPTI costs while it is open and nothing is recorded

static double launches_us(program *p, bool graph)
{
    double best = 1e9;
    for (int i = 0; i < 50; i++) {
        auto start = std::chrono::steady_clock::now();
        for (int j = 0; j < 40; j++)
            if (graph)
                must(cudaGraphLaunch(p->graph, p->streams[0]), __LINE__);
            else
                work<<<4, 256, 0, p->streams[0]>>>(p->device, 1024, 1);
        must(cudaStreamSynchronize(p->streams[0]), __LINE__);
        std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count());
    }
    return best;
}

static int time_it(const char *path)
{
    err why = {};
    program p = {};
    open_program(&p);
    printf("note 40 launches %.1f us, 40 graph launches %.1f us: without CUPTI\n", launches_us(&p, false), launches_us(&p, true));
    struct cupti *cupti = cupti_open(path, &why);
    if (!cupti) {
        printf("FAIL %s\n", why.text);
        return 1;
    }
    printf("note 40 launches %.1f us, 40 graph launches %.1f us: CUPTI open\n", launches_us(&p, false), launches_us(&p, true));
    spans spans = {};
    if (cupti_start(cupti, &why)) {
        printf("note 40 launches %.1f us, 40 graph launches %.1f us: recording\n", launches_us(&p, false), launches_us(&p, true));
        cupti_stop(cupti, nullptr, &spans, &why);
    }
    printf("note 40 launches %.1f us, 40 graph launches %.1f us: after recording\n", launches_us(&p, false), launches_us(&p, true));
    printf("ok %zu spans\n", spans.count);
    return spans.count == 0;
}

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "plain") { // for nsys
        program p = {};
        open_program(&p);
        run_program(&p);
        return 0;
    }
    if (argc < 3)
        return 2;
    return mode == "raw"    ? raw(argv[2])
           : mode == "door" ? door(argv[2], false)
           : mode == "late" ? door(argv[2], true)
           : mode == "time" ? time_it(argv[2])
                            : 2;
}
