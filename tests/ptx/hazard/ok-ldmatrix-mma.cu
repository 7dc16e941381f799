// expect: clean
// launch: block=32
#include <cuda_fp16.h>
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    __shared__ __align__(16) __half a[16 * 16], b[8 * 16];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 32)
        a[i] = __float2half(in[i]);
    for (int i = t; i < 128; i += 32)
        b[i] = __float2half(in[256 + i]);
    __syncwarp();
    unsigned ra[4], rb[2];
    unsigned pa = (unsigned)__cvta_generic_to_shared(&a[(t & 15) * 16 + (t >> 4) * 8]);
    unsigned pb = (unsigned)__cvta_generic_to_shared(&b[(t & 7) * 16 + ((t >> 3) & 1) * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(rb[0]), "=r"(rb[1])
                 : "r"(pb));
    float c[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int i = 0; i < 4; i++)
        out[blockIdx.x * 128 + t * 4 + i] = c[i];
}
