// expect: clean
// launch: grid=2 block=128
// Two buffers in turn: one barrier a round is enough.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    float *mine = out + blockIdx.x * 256;
    mine[t] = in[t];
    for (int round = 0; round < 6; round++) {
        __syncthreads();
        float *from = mine + round % 2 * 128, *to = mine + (round + 1) % 2 * 128;
        to[t] = from[t] + from[(t + 32) % 128];
    }
}
