// expect: clean
// launch: grid=2 block=96
// The barrier of a cluster that is one block: what came before it is there behind it.
#include <cooperative_groups.h>

extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[96];
    int t = threadIdx.x;
    s[t] = in[t];
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    float x = s[95 - t];
    cooperative_groups::this_cluster().sync();
    s[t] = x;
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    out[blockIdx.x * 96 + t] = s[95 - t];
}
