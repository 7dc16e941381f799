// What the real CUDA runtime returns for each call of host_codes.inc: "name code", one a line; with the
// argument "captures", what it says to capture_codes.inc.
#include <cuda_runtime.h>

#include <cstdio>
#include <unistd.h>

#define STREAM cudaStream_t
#define EVENT cudaEvent_t
#define GRAPH cudaGraph_t
#define EXEC cudaGraphExec_t
#define KIND(n) static_cast<cudaMemcpyKind>(n)
#define MODE(n) static_cast<cudaStreamCaptureMode>(n)
#define DEVICE_ATTRIBUTE(n) static_cast<cudaDeviceAttr>(n)
#define FUNCTION_ATTRIBUTE(n) static_cast<cudaFuncAttribute>(n)
#define DIM(x, y, z) dim3(x, y, z)

__global__ void add(unsigned *p, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 1;
}

__global__ void __launch_bounds__(64) bound(unsigned *p)
{
    if (p)
        p[threadIdx.x] = 1;
}

#define CAPTURE_STATUS cudaStreamCaptureStatus
#define CALL_STATUS cudaError_t
#define CAPTURE_LAUNCH(stream, p) \
    (add<<<1, 32, 0, stream>>>(static_cast<unsigned *>(p), 32), static_cast<int>(cudaGetLastError()))
#define KERNEL_ADD reinterpret_cast<const void *>(add)
#define KERNEL_BOUND reinterpret_cast<const void *>(bound)
#include "capture_codes.inc"
#include "host_codes.inc"

static void say(const char *name, int code)
{
    std::printf("%s %d\n", name, code);
    std::fflush(stdout);
}

static void say_capture(const char *line)
{
    std::puts(line);
    std::fflush(stdout);
}

int main(int argc, char **)
{
    cudaFree(nullptr);
    if (argc > 1)
        capture_codes(say_capture);
    else
        host_codes(say);
    return 0;
}
