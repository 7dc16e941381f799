/* What a student has without Stride: one program with kernel, launch, check and nothing else.
 * tests/gpu/bench_attempt compares the time it takes to build and run this with an attempt. */
#include <cmath>
#include <cstdio>
#include <vector>

#include "../../kernels/cp-async/solution.cu"

int main()
{
    const size_t n = 4222976;
    std::vector<float> in(n), out(n);
    for (size_t i = 0; i < n; ++i)
        in[i] = (float)(i * 2654435761u % 8388608u) / 4194304.0f - 1.0f;
    float *from, *to;
    cudaMalloc(&from, n * sizeof(float));
    cudaMalloc(&to, n * sizeof(float));
    cudaMemcpy(from, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    asyncTransformTiles<<<(unsigned)(n / kAsyncElementsPerBlock), kAsyncThreadsPerBlock>>>(from, to);
    cudaMemcpy(out.data(), to, n * sizeof(float), cudaMemcpyDeviceToHost);
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i) {
        float x = in[i];
        for (int step = 0; step < kAsyncTransformSteps; ++step)
            x = std::fmaf(x, 0.9921875f, 0.0078125f);
        wrong += !(std::fabs(out[i] - x) <= 1e-6f);
    }
    std::printf("%zu wrong\n", wrong);
    return wrong != 0;
}
