// verdict: hazard
// verdict-gpu: wrong (memory that was never set holds something)
// Only whole pieces are copied. What is left at the end is not, and the kernel reads it all the same.
#include "lab.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

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

// One block per checksum; a number counts according to where it stands.
__global__ void checksums(const uint32_t *data, uint32_t *sums, size_t n)
{
    __shared__ uint32_t sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();

    const size_t first = blockIdx.x * size_t(kStagingBlock);
    uint32_t own = 0;
    for (int i = threadIdx.x; i < kStagingBlock; i += blockDim.x)
        if (first + i < n)
            own += data[first + i] * (2 * i + 1);
    atomicAdd(&sum, own);
    __syncthreads();

    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}
constexpr int kThreads = 256; // per block

// >>> your code
constexpr int kCopyThreads = 4; // that fill a buffer together

struct Buffer {
    uint32_t *piece;      // pinned
    cudaEvent_t drained;  // its last copy to the device is done
};
struct State {
    cudaStream_t stream;
    Buffer buffers[2];
    uint32_t *data, *sums; // on the device
};

// memcpy, shared among kCopyThreads threads.
static void fill(uint32_t *to, const uint32_t *from, size_t count)
{
    const size_t share = (count + kCopyThreads - 1) / kCopyThreads;
    std::vector<std::thread> threads;
    for (size_t first = 0; first < count; first += share) {
        const size_t part = std::min(share, count - first);
        threads.emplace_back([=] {
            std::memcpy(to + first, from + first, part * sizeof *to);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
}

extern "C" void stagingOpen(StagingWork *work)
{
    State *state = new State{};
    work->state = state;
    CHECK(cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking));
    for (Buffer &buffer : state->buffers) {
        CHECK(cudaMallocHost(&buffer.piece,
                             work->piece * sizeof(uint32_t)));
        CHECK(cudaEventCreateWithFlags(&buffer.drained,
                                       cudaEventDisableTiming));
    }
    CHECK(cudaMallocHost(&work->sums, work->blocks * sizeof(uint32_t)));
    CHECK(cudaMalloc(&state->data, work->n * sizeof(uint32_t)));
    CHECK(cudaMalloc(&state->sums, work->blocks * sizeof(uint32_t)));
}

extern "C" void stagingRun(StagingWork *work)
{
    State *state = static_cast<State *>(work->state);
    int next = 0; // the buffer whose turn it is
    for (size_t first = 0; first + work->piece <= work->n;
         first += work->piece) {
        const size_t count = std::min(work->piece, work->n - first);
        Buffer &buffer = state->buffers[next];
        next = 1 - next;

        // The piece before the last one has left this buffer. An event that
        // was never recorded counts as past.
        CHECK(cudaEventSynchronize(buffer.drained));
        fill(buffer.piece, work->input + first, count);
        CHECK(cudaMemcpyAsync(state->data + first, buffer.piece,
                              count * sizeof(uint32_t),
                              cudaMemcpyHostToDevice, state->stream));
        CHECK(cudaEventRecord(buffer.drained, state->stream));
    }
    checksums<<<work->blocks, kThreads, 0, state->stream>>>(
        state->data, state->sums, work->n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(work->sums, state->sums,
                          work->blocks * sizeof(uint32_t),
                          cudaMemcpyDeviceToHost, state->stream));
    CHECK(cudaStreamSynchronize(state->stream));
}

extern "C" void stagingClose(StagingWork *work)
{
    State *state = static_cast<State *>(work->state);
    CHECK(cudaStreamDestroy(state->stream));
    for (Buffer &buffer : state->buffers) {
        CHECK(cudaFreeHost(buffer.piece));
        CHECK(cudaEventDestroy(buffer.drained));
    }
    CHECK(cudaFreeHost(work->sums));
    CHECK(cudaFree(state->data));
    CHECK(cudaFree(state->sums));
    delete state;
}
// <<< your code
