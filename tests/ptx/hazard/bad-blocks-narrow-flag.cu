// expect: global-race line 12/15
// launch: grid=4 block=32 out=zero
// A chain of blocks whose flag is released and acquired, but only for the threads of a block.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    unsigned *flag = reinterpret_cast<unsigned *>(out);
    if (threadIdx.x)
        return;
    unsigned seen = 0;
    while (blockIdx.x && !seen)
        asm volatile("ld.acquire.cta.global.u32 %0, [%1];"
                     : "=r"(seen) : "l"(&flag[blockIdx.x - 1]) : "memory");
    unsigned value = seen + 1;
    asm volatile("st.release.cta.global.u32 [%0], %1;"
                 ::"l"(&flag[blockIdx.x]), "r"(value) : "memory");
}
