// mma.sync with fragments from ldmatrix: 16 x 8 x 16 in halves, and integers from registers.
// launch: grid=1 block=32
// in: 512 f32
// out: 256 f32 near 1e-5
#include <cuda_fp16.h>
extern "C" __global__ void k(float *out, const float *in)
{
    __shared__ alignas(16) half a[16][24], b[16][8];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32)
        a[i / 16][i % 16] = __float2half(in[i]);
    for (int i = lane; i < 128; i += 32)
        b[i / 8][i % 8] = __float2half(in[256 + i]);
    __syncwarp();
    unsigned x[4], y[2];
    unsigned from = (unsigned)__cvta_generic_to_shared(&a[lane % 16][lane / 16 * 8]);
    unsigned other = (unsigned)__cvta_generic_to_shared(&b[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(from));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(y[0]), "=r"(y[1])
                 : "r"(other));
    float d[4] = {1, 2, 3, 4};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    int e[4] = {0, 1, 2, 3};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 4; i++) {
        out[i * 32 + lane] = d[i];
        out[128 + i * 32 + lane] = (float)e[i];
    }
}
