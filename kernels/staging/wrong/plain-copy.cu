// verdict: pass
// misses: pinned
// The starter: one copy from pageable memory.
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
struct State {
    uint32_t *data, *sums; // on the device
};

extern "C" void stagingOpen(StagingWork *work)
{
    State *state = new State{};
    work->state = state;
    CHECK(cudaMallocHost(&work->sums, work->blocks * sizeof(uint32_t)));
    CHECK(cudaMalloc(&state->data, work->n * sizeof(uint32_t)));
    CHECK(cudaMalloc(&state->sums, work->blocks * sizeof(uint32_t)));
}

extern "C" void stagingRun(StagingWork *work)
{
    State *state = static_cast<State *>(work->state);
    CHECK(cudaMemcpy(state->data, work->input, work->n * sizeof(uint32_t),
                     cudaMemcpyHostToDevice));
    checksums<<<work->blocks, kThreads>>>(state->data, state->sums,
                                          work->n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(work->sums, state->sums,
                     work->blocks * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost));
}

extern "C" void stagingClose(StagingWork *work)
{
    State *state = static_cast<State *>(work->state);
    CHECK(cudaFreeHost(work->sums));
    CHECK(cudaFree(state->data));
    CHECK(cudaFree(state->sums));
    delete state;
}
// <<< your code
