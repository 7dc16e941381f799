// expect: clean
// launch: block=32
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;
    s[t] = ((const float4 *)in)[blockIdx.x * 64 + t];
    s[t + 32] = ((const float4 *)in)[blockIdx.x * 64 + t + 32];
    __syncthreads();
    float2 h = ((float2 *)s)[2 * t + 1];
    float4 v = s[63 - t];
    out[blockIdx.x * 32 + t] = v.x + v.w + h.y;
}
