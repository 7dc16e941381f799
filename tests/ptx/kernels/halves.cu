// Half and bfloat16 arithmetic, packed and single.
// launch: grid=1 block=128
// in: 256 f32
// out: 512 u32
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void k(unsigned *out, const float *in)
{
    unsigned i = threadIdx.x;
    float x = in[i], y = in[128 + i];
    half2 a = __floats2half2_rn(x, y), b = __floats2half2_rn(y + 1, x * 3);
    half2 c = __hfma2(a, b, __hmax2(a, b)), d = __hsub2(__hmul2(c, a), h2sqrt(__habs2(b)));
    __nv_bfloat162 e = __floats2bfloat162_rn(x, y), f = __hfma2(e, e, __hneg2(e));
    out[i] = *reinterpret_cast<unsigned *>(&c);
    out[128 + i] = *reinterpret_cast<unsigned *>(&f);
    out[256 + i] = __half_as_ushort(__float2half_rz(x * y)) | (unsigned)__hlt(__low2half(a), __high2half(b)) << 16;
    out[384 + i] = (unsigned)__half2int_rn(__low2half(c)) ^ __float_as_uint(__half2float(__high2half(a)));
    (void)d;
}
