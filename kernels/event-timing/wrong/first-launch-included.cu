// verdict: pass
// misses: launches
// verdict-gpu: wrong, pass (loading the kernel may cost more than a round allows)
// One launch, and the first one: whatever a kernel costs only once is in it.
#include "lab.h"

#include <chrono>
#include <cstdio>

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

// What is to be measured: one thread per element.
__global__ void triad(const double *a, const double *b, double *c,
                      size_t n)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        c[i] = a[i] + 3.0 * b[i];
}
constexpr int kThreads = 256; // per block

// >>> your code
constexpr int kLaunches = 1;

struct State {
    double *a, *b, *c;
    cudaEvent_t start, stop;
};

extern "C" void eventTimingOpen(EventTimingWork *work)
{
    State *state = new State{};
    work->state = state;
    const size_t bytes = work->n * sizeof(double);
    CHECK(cudaMalloc(&state->a, bytes));
    CHECK(cudaMalloc(&state->b, bytes));
    CHECK(cudaMalloc(&state->c, bytes));
    CHECK(cudaMemset(state->a, 0, bytes));
    CHECK(cudaMemset(state->b, 0, bytes));
    CHECK(cudaEventCreate(&state->start));
    CHECK(cudaEventCreate(&state->stop));
}

extern "C" void eventTimingRun(EventTimingWork *work)
{
    State *state = static_cast<State *>(work->state);
    const unsigned blocks = (work->n + kThreads - 1) / kThreads;
    auto launch = [&] {
        triad<<<blocks, kThreads>>>(state->a, state->b, state->c, work->n);
    };

    CHECK(cudaEventRecord(state->start));
    for (int k = 0; k < kLaunches; ++k)
        launch();
    CHECK(cudaEventRecord(state->stop));
    CHECK(cudaGetLastError());
    CHECK(cudaEventSynchronize(state->stop)); // until it has happened

    float total = 0.0f;
    CHECK(cudaEventElapsedTime(&total, state->start, state->stop));
    work->milliseconds = total / kLaunches;
    const double bytes = 3.0 * sizeof(double) * work->n; // a, b in; c out
    work->gigabytes_per_second = bytes / (work->milliseconds * 1e6);
}

extern "C" void eventTimingClose(EventTimingWork *work)
{
    State *state = static_cast<State *>(work->state);
    CHECK(cudaFree(state->a));
    CHECK(cudaFree(state->b));
    CHECK(cudaFree(state->c));
    CHECK(cudaEventDestroy(state->start));
    CHECK(cudaEventDestroy(state->stop));
    delete state;
}
// <<< your code
