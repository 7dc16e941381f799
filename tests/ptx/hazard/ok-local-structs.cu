// expect: clean
// launch: block=32
// Structs by value and by pointer through real calls, with padding that nobody sets.
struct item {
    char kind;
    float value;
    short tail;
};
__device__ __noinline__ float use(const item *items, int count)
{
    float v = 0;
    for (int i = 0; i < count; i++)
        v += items[i].kind ? items[i].value : items[i].tail;
    return v;
}
__device__ __noinline__ item make(float x)
{
    item it;
    it.kind = x > 2.f;
    it.value = x;
    it.tail = (short)x;
    return it;
}
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    item items[6];
    int i = blockIdx.x * 32 + threadIdx.x;
    for (int k = 0; k < 6; k++)
        items[k] = make(in[i + k]);
    item copy = items[(int)in[i] % 6];
    items[0] = copy;
    out[i] = use(items, 6) + use(&copy, 1);
}
