// verdict: pass
// misses: pinned
// Ordinary memory on the host: the driver has to stage it, and the host waits meanwhile.
#include "lab.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

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

// One thread per number.
__global__ void advance(const uint32_t *from, uint32_t *to, size_t count,
                        uint32_t multiplier, uint32_t increment)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < count)
        to[i] = streamsAdvance(from[i], multiplier, increment);
}
constexpr int kThreads = 256; // per block

// >>> your code
constexpr int kStreams = 3; // one copies in, one computes, one copies out
constexpr int kChunks = 8;

// A stream has its own buffers: within a stream everything happens in
// order, so the next chunk never meets the one before it.
struct Lane {
    cudaStream_t stream;
    uint32_t *from, *to; // on the device, one chunk each
};
struct State {
    size_t chunk; // numbers in a chunk; the last one may have fewer
    Lane lanes[kStreams];
};

extern "C" void streamsOpen(StreamsWork *work)
{
    State *state = new State{};
    work->state = state;
    state->chunk = (work->n + kChunks - 1) / kChunks;
    const size_t bytes = work->n * sizeof(uint32_t);
    work->input = static_cast<uint32_t *>(std::malloc(bytes));
    work->output = static_cast<uint32_t *>(std::malloc(bytes));
    for (Lane &lane : state->lanes) {
        CHECK(cudaStreamCreateWithFlags(&lane.stream,
                                        cudaStreamNonBlocking));
        CHECK(cudaMalloc(&lane.from, state->chunk * sizeof(uint32_t)));
        CHECK(cudaMalloc(&lane.to, state->chunk * sizeof(uint32_t)));
    }
}

extern "C" void streamsRun(StreamsWork *work)
{
    State *state = static_cast<State *>(work->state);
    for (int c = 0; c < kChunks; ++c) {
        const size_t first = c * state->chunk;
        if (first >= work->n)
            break;
        const size_t count = std::min(state->chunk, work->n - first);
        const size_t bytes = count * sizeof(uint32_t);
        const unsigned blocks = (count + kThreads - 1) / kThreads;
        const Lane &lane = state->lanes[c % kStreams];

        CHECK(cudaMemcpyAsync(lane.from, work->input + first, bytes,
                              cudaMemcpyHostToDevice, lane.stream));
        advance<<<blocks, kThreads, 0, lane.stream>>>(
            lane.from, lane.to, count, kStreamsMultiplier,
            kStreamsIncrement);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(work->output + first, lane.to, bytes,
                              cudaMemcpyDeviceToHost, lane.stream));
    }
    CHECK(cudaDeviceSynchronize()); // once, behind all chunks
}

extern "C" void streamsClose(StreamsWork *work)
{
    State *state = static_cast<State *>(work->state);
    for (Lane &lane : state->lanes) {
        CHECK(cudaFree(lane.from));
        CHECK(cudaFree(lane.to));
        CHECK(cudaStreamDestroy(lane.stream));
    }
    std::free(work->input);
    std::free(work->output);
    delete state;
}
// <<< your code
