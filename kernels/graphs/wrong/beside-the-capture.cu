// verdict: hazard
// verdict-gpu: wrong
// A launch without a stream beside a non-blocking one: no error. It runs at once, on memory that holds
// nothing yet, and the graph has one step too few.
#include "lab.h"

#include <cstdio>
#include <utility>

// A call that fails says so, and the function it stands in ends there.
#define CHECK(call)                                                      \
    do {                                                                 \
        const cudaError_t error_ = (call);                               \
        if (error_ != cudaSuccess) {                                     \
            std::fprintf(stderr, "kernel.cu:%d: %s\n", __LINE__,         \
                         cudaGetErrorString(error_));                    \
            return;                                                      \
        }                                                                \
    } while (0)

constexpr int kThreads = 256; // per block

// A copy, 40 launches and a copy, queued one by one in each run, although
// the list never changes. Queue it once, keep it, and replay it.
// >>> your code
// The graph keeps what its nodes were given. For the factor that is an
// address; what lies there is new in every run.
__global__ void step(const float *from, float *to, size_t n,
                     const float *factor)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        to[i] = graphsStep(from, i, n, *factor);
}

struct State {
    cudaStream_t stream;
    cudaGraphExec_t replay;
    float *now, *next; // on the device; now[n] is the factor
};

// Queues everything once, into a graph: nothing runs here.
static void capture(const GraphsWork *work, State *state)
{
    const size_t bytes = work->n * sizeof(float);
    const unsigned blocks = (work->n + kThreads - 1) / kThreads;
    const float *factor = state->now + work->n;
    float *from = state->now, *to = state->next;

    CHECK(cudaStreamBeginCapture(state->stream,
                                 cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(from, work->input, bytes + sizeof(float),
                          cudaMemcpyHostToDevice, state->stream));
    for (int s = 0; s < kGraphsSteps; ++s) {
        if (s == 0)
            step<<<blocks, kThreads>>>(from, to, work->n, factor);
        else
            step<<<blocks, kThreads, 0, state->stream>>>(
                from, to, work->n, factor);
        CHECK(cudaGetLastError());
        std::swap(from, to);
    }
    CHECK(cudaMemcpyAsync(work->output, from, bytes,
                          cudaMemcpyDeviceToHost, state->stream));
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(state->stream, &graph));
    CHECK(cudaGraphInstantiate(&state->replay, graph, 0));
    CHECK(cudaGraphDestroy(graph)); // the replay needs it no more
}

extern "C" void graphsOpen(GraphsWork *work)
{
    State *state = new State{};
    work->state = state;
    const size_t bytes = (work->n + 1) * sizeof(float);
    CHECK(cudaMallocHost(&work->input, bytes)); // the factor behind it
    CHECK(cudaMallocHost(&work->output, bytes));
    CHECK(cudaMalloc(&state->now, bytes));
    CHECK(cudaMalloc(&state->next, bytes));
    CHECK(cudaStreamCreateWithFlags(&state->stream,
                                    cudaStreamNonBlocking));
    capture(work, state);
}

extern "C" void graphsRun(GraphsWork *work)
{
    State *state = static_cast<State *>(work->state);
    work->input[work->n] = work->factor; // travels with the temperatures
    CHECK(cudaGraphLaunch(state->replay, state->stream));
    CHECK(cudaStreamSynchronize(state->stream));
}

extern "C" void graphsClose(GraphsWork *work)
{
    State *state = static_cast<State *>(work->state);
    CHECK(cudaGraphExecDestroy(state->replay));
    CHECK(cudaStreamDestroy(state->stream));
    CHECK(cudaFree(state->now));
    CHECK(cudaFree(state->next));
    CHECK(cudaFreeHost(work->input));
    CHECK(cudaFreeHost(work->output));
    delete state;
}
// <<< your code
