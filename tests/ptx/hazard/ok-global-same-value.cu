// expect: clean
// launch: grid=1 block=128 out=zero
// Everybody sets the same flag to the same value, and one line of equal lanes.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    out[100] = 1;
    if (in[t] >= 0)
        out[101] = 2;
    __syncthreads();
    out[200 + t] = out[100] + out[101];
}
