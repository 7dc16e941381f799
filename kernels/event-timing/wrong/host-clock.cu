// verdict: wrong
// The starter: the clock is read when the launch was asked for, not when it was done.
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
struct State {
    double *a, *b, *c;
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
}

extern "C" void eventTimingRun(EventTimingWork *work)
{
    State *state = static_cast<State *>(work->state);
    const unsigned blocks = (work->n + kThreads - 1) / kThreads;
    auto launch = [&] {
        triad<<<blocks, kThreads>>>(state->a, state->b, state->c, work->n);
    };

    const auto before = std::chrono::steady_clock::now();
    launch();
    const auto after = std::chrono::steady_clock::now();
    CHECK(cudaGetLastError());

    const std::chrono::duration<double, std::milli> took = after - before;
    work->milliseconds = took.count();
    const double bytes = 3.0 * sizeof(double) * work->n; // a, b in; c out
    work->gigabytes_per_second = bytes / (work->milliseconds * 1e6);
}

extern "C" void eventTimingClose(EventTimingWork *work)
{
    State *state = static_cast<State *>(work->state);
    CHECK(cudaFree(state->a));
    CHECK(cudaFree(state->b));
    CHECK(cudaFree(state->c));
    delete state;
}
// <<< your code
