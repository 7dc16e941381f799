// expect: clean
// launch: grid=2 block=128
// 4-byte copies; what lies behind the end becomes zero.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);
    int bytes = i < 200 ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(in + i), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    out[i] = s[t ^ 1];
}
