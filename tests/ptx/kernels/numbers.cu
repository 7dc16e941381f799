// Conversions, double precision, correctly rounded functions, large sinf arguments' reduction.
// launch: grid=2 block=128
// in: 512 u64
// out: 2048 u64
extern "C" __global__ void k(unsigned long long *out, const unsigned long long *in)
{
    unsigned i = blockIdx.x * 128 + threadIdx.x;
    unsigned long long a = in[2 * i], b = in[2 * i + 1];
    double x = (double)(long long)(a >> 20) * 0x1p-30, y = (double)(unsigned)(b >> 32) + 1.0;
    float f = (float)(int)(unsigned)a * 0x1p-10f, g = (float)(unsigned)(b >> 40) + 0.5f;
    unsigned long long *o = out + i * 8;
    o[0] = (unsigned long long)__double_as_longlong(x / y + sqrt(y));
    o[1] = (unsigned long long)(long long)(x * 3.25);
    o[2] = __float_as_uint(f / g) | (unsigned long long)__float_as_uint(sqrtf(g)) << 32;
    o[3] = (unsigned long long)((long long)a / (long long)(b >> 33 | 1)) ^ a % (b >> 7 | 1);
    o[4] = __float_as_uint(fmaf(f, g, -f)) | (unsigned long long)__float2int_rn(f) << 32;
    o[5] = (unsigned long long)__double_as_longlong(fmod(x, y) + floor(x) - rint(y * 0.3));
    o[6] = __umul64hi(a, b) + __mul64hi((long long)a, (long long)b);
    o[7] = (unsigned)__popcll(a) + (unsigned)__clzll((long long)b) * 256u + (unsigned)__ffsll((long long)a) * 65536u;
}
