// Multiplies every element by two.
// 每个线程处理一个元素的内核注释很长每个线程处理一个元素的内核注释很长每个线程处理一个元素的内核注释很长每个线程处理一个元素的内核注释很长
// éééééééééééééééééééééééééééééééééééééééé x
extern "C" __global__ void scale(const float *in, float *out, int n)
{
    // >>> your code
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2.0f * in[i];
    // <<< your code
}
