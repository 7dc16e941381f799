// verdict: hazard
// A slot is called free after B of its own piece; B of the next piece still reads its end.
// verdict-gpu: pass, wrong (A of three pieces on comes late enough, nearly always)
#include "lab.h"

#include <algorithm>
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

constexpr int kThreads = 256; // per block

// Kernel A: every number on its own.
__global__ void advance(const uint32_t *from, uint32_t *to, size_t count,
                        uint32_t multiplier, uint32_t increment)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < count)
        to[i] = crossAdvance(from[i], multiplier, increment);
}

// Kernel B: every number and those before it. Where the piece begins, they
// are the last ones of the piece before, which ends at `before`; the first
// piece has none, and `before` is null.
__global__ void addUp(const uint32_t *piece, const uint32_t *before,
                      uint32_t *sums, size_t count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= int(count))
        return;
    const int own = i < kCrossWindow ? i + 1 : kCrossWindow;
    uint32_t sum = 0;
    for (int k = 0; k < own; ++k)
        sum += piece[i - k];
    if (before)
        for (int k = own; k < kCrossWindow; ++k)
            sum += before[i - k];
    sums[i] = sum;
}

// One stream copies in and runs A, the other runs B and copies out. The
// host keeps them in step: it stands and waits twice for every piece. Let
// the streams wait for each other instead.
// >>> your code
constexpr int kRing = 3; // A fills one, B reads one and the end of another

// What A made of a piece, and the two things that the streams tell each
// other about it.
struct Slot {
    uint32_t *data;           // on the device, one piece
    cudaEvent_t ready, freed; // A has filled it; B needs it no more
};
struct State {
    cudaStream_t produce, consume;
    uint32_t *raw, *sums; // on the device: a piece coming in, one going out
    Slot ring[kRing];
};

extern "C" void crossOpen(CrossWork *work)
{
    State *state = new State{};
    work->state = state;
    CHECK(cudaMallocHost(&work->input, work->n * sizeof(uint32_t)));
    CHECK(cudaMallocHost(&work->output, work->n * sizeof(uint32_t)));
    const size_t bytes = work->piece * sizeof(uint32_t);
    CHECK(cudaMalloc(&state->raw, bytes));
    CHECK(cudaMalloc(&state->sums, bytes));
    for (Slot &slot : state->ring) {
        CHECK(cudaMalloc(&slot.data, bytes));
        for (cudaEvent_t *event : {&slot.ready, &slot.freed})
            CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    }
    for (cudaStream_t *stream : {&state->produce, &state->consume})
        CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
}

extern "C" void crossRun(CrossWork *work)
{
    State *state = static_cast<State *>(work->state);
    const size_t piece = work->piece;
    for (size_t p = 0; p * piece < work->n; ++p) {
        const size_t first = p * piece;
        const size_t count = std::min(piece, work->n - first);
        const size_t bytes = count * sizeof(uint32_t);
        const unsigned blocks = (count + kThreads - 1) / kThreads;
        const Slot &slot = state->ring[p % kRing];
        const Slot *last = p ? &state->ring[(p - 1) % kRing] : nullptr;

        CHECK(cudaMemcpyAsync(state->raw, work->input + first, bytes,
                              cudaMemcpyHostToDevice, state->produce));
        if (p >= kRing) // the slot holds piece p - kRing
            CHECK(cudaStreamWaitEvent(state->produce, slot.freed, 0));
        advance<<<blocks, kThreads, 0, state->produce>>>(
            state->raw, slot.data, count, kCrossMultiplier,
            kCrossIncrement);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(slot.ready, state->produce));

        CHECK(cudaStreamWaitEvent(state->consume, slot.ready, 0));
        addUp<<<blocks, kThreads, 0, state->consume>>>(
            slot.data, last ? last->data + piece : nullptr, state->sums,
            count);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(slot.freed, state->consume));
        CHECK(cudaMemcpyAsync(work->output + first, state->sums, bytes,
                              cudaMemcpyDeviceToHost, state->consume));
    }
    CHECK(cudaStreamSynchronize(state->consume)); // the only wait: the end
}

extern "C" void crossClose(CrossWork *work)
{
    State *state = static_cast<State *>(work->state);
    for (cudaStream_t stream : {state->produce, state->consume})
        CHECK(cudaStreamDestroy(stream));
    for (const Slot &slot : state->ring) {
        CHECK(cudaFree(slot.data));
        for (cudaEvent_t event : {slot.ready, slot.freed})
            CHECK(cudaEventDestroy(event));
    }
    CHECK(cudaFree(state->raw));
    CHECK(cudaFree(state->sums));
    CHECK(cudaFreeHost(work->input));
    CHECK(cudaFreeHost(work->output));
    delete state;
}
// <<< your code
