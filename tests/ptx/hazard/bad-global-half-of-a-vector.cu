// expect: race-read-after-write line 8/7
// launch: grid=1 block=64
// Four elements at a time on one side, one on the other.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    out[t] = in[t];
    float4 x = t < 16 ? reinterpret_cast<float4 *>(out)[t] : make_float4(0, 0, 0, 0);
    out[4096 + t] = x.x + x.w;
}
