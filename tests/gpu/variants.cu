/* How much cp.async gains in the lab cp-async for different amounts of arithmetic: baseline and
 * solution, timed side by side. tests/gpu/bench_variants builds this once for each number of steps. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>

#define asyncTransformTiles baselineKernel
#include "../../kernels/cp-async/baseline.cu"
#undef asyncTransformTiles
#define asyncTransformTiles solutionKernel
#include "../../kernels/cp-async/solution.cu"
#undef asyncTransformTiles

static void must(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(1);
}

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

int main(int count, char **words)
{
    const size_t n = count > 1 ? std::strtoull(words[1], nullptr, 10) : 1u << 25;
    const unsigned blocks = (unsigned)(n / kAsyncElementsPerBlock);
    float *in[2], *out[2];
    std::vector<float> host(n);
    for (size_t i = 0; i < n; ++i)
        host[i] = (float)(i * 2654435761u % 8388608u) / 4194304.0f - 1.0f;
    for (int k = 0; k < 2; ++k) {
        must(cudaMalloc(&in[k], n * sizeof(float)));
        must(cudaMalloc(&out[k], n * sizeof(float)));
        must(cudaMemcpy(in[k], host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    }
    cudaEvent_t events[3];
    for (auto &event : events)
        must(cudaEventCreate(&event));
    std::vector<double> base, mine, ratio;
    for (int round = 0; round < 80; ++round) {
        must(cudaEventRecord(events[0]));
        for (int k = 0; k < 8; ++k)
            baselineKernel<<<blocks, kAsyncThreadsPerBlock>>>(in[k % 2], out[k % 2]);
        must(cudaEventRecord(events[1]));
        for (int k = 0; k < 8; ++k)
            solutionKernel<<<blocks, kAsyncThreadsPerBlock>>>(in[k % 2], out[k % 2]);
        must(cudaEventRecord(events[2]));
        must(cudaDeviceSynchronize());
        float a, b;
        must(cudaEventElapsedTime(&a, events[0], events[1]));
        must(cudaEventElapsedTime(&b, events[1], events[2]));
        if (round < 20)
            continue;
        base.push_back(a / 8.0);
        mine.push_back(b / 8.0);
        ratio.push_back(a / b);
    }
    const double ms = median(mine);
    std::printf("%5d %10.4f %10.4f %8.3f %10.1f\n", kAsyncTransformSteps, median(base), ms,
                median(ratio), 8.0 * (double)n / ms / 1e6);
    return 0;
}
