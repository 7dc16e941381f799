// verdict: wrong
// The new factor is given to one kernel node of 40; the others keep the old one.
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
__global__ void step(const float *from, float *to, size_t n, float factor)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        to[i] = graphsStep(from, i, n, factor);
}

struct State {
    cudaStream_t stream;
    cudaGraph_t graph; // its nodes name those of the replay
    cudaGraphExec_t replay;
    cudaGraphNode_t first; // the first step
    float *now, *next; // on the device
};

// Queues everything once, into a graph: nothing runs here.
static void capture(const GraphsWork *work, State *state)
{
    const size_t bytes = work->n * sizeof(float);
    const unsigned blocks = (work->n + kThreads - 1) / kThreads;
    float *from = state->now, *to = state->next;

    CHECK(cudaStreamBeginCapture(state->stream,
                                 cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(from, work->input, bytes,
                          cudaMemcpyHostToDevice, state->stream));
    for (int s = 0; s < kGraphsSteps; ++s) {
        step<<<blocks, kThreads, 0, state->stream>>>(from, to, work->n,
                                                     work->factor);
        CHECK(cudaGetLastError());
        std::swap(from, to);
    }
    CHECK(cudaMemcpyAsync(work->output, from, bytes,
                          cudaMemcpyDeviceToHost, state->stream));
    CHECK(cudaStreamEndCapture(state->stream, &state->graph));
    CHECK(cudaGraphInstantiate(&state->replay, state->graph, 0));

    cudaGraphNode_t nodes[kGraphsSteps + 2];
    size_t count = kGraphsSteps + 2;
    CHECK(cudaGraphGetNodes(state->graph, nodes, &count));
    for (size_t i = 0; i < count && !state->first; ++i) {
        cudaGraphNodeType type;
        CHECK(cudaGraphNodeGetType(nodes[i], &type));
        if (type == cudaGraphNodeTypeKernel)
            state->first = nodes[i];
    }
}

extern "C" void graphsOpen(GraphsWork *work)
{
    State *state = new State{};
    work->state = state;
    const size_t bytes = work->n * sizeof(float);
    CHECK(cudaMallocHost(&work->input, bytes));
    CHECK(cudaMallocHost(&work->output, bytes));
    CHECK(cudaMalloc(&state->now, bytes));
    CHECK(cudaMalloc(&state->next, bytes));
    CHECK(cudaStreamCreate(&state->stream));
}

extern "C" void graphsRun(GraphsWork *work)
{
    State *state = static_cast<State *>(work->state);
    if (!state->replay)
        capture(work, state);
    cudaKernelNodeParams params;
    CHECK(cudaGraphKernelNodeGetParams(state->first, &params));
    size_t n = work->n;
    void *arguments[] = {params.kernelParams[0], params.kernelParams[1], &n,
                         &work->factor};
    params.kernelParams = arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(state->replay, state->first,
                                           &params));
    CHECK(cudaGraphLaunch(state->replay, state->stream));
    CHECK(cudaStreamSynchronize(state->stream));
}

extern "C" void graphsClose(GraphsWork *work)
{
    State *state = static_cast<State *>(work->state);
    CHECK(cudaGraphExecDestroy(state->replay));
    CHECK(cudaGraphDestroy(state->graph));
    CHECK(cudaStreamDestroy(state->stream));
    CHECK(cudaFree(state->now));
    CHECK(cudaFree(state->next));
    CHECK(cudaFreeHost(work->input));
    CHECK(cudaFreeHost(work->output));
    delete state;
}
// <<< your code
