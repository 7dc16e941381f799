// expect: clean
// launch: grid=2 block=128
// Neighbours' bytes and halves share words.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    unsigned char *bytes = (unsigned char *)out + blockIdx.x * 1024;
    unsigned short *halves = (unsigned short *)(bytes + 512);
    int t = threadIdx.x;
    bytes[t] = (unsigned char)t;
    bytes[t] += 1;
    halves[t] = (unsigned short)(bytes[t] + 3);
    halves[t] ^= 5;
}
