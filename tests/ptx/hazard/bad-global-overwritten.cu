// expect: race-write-after-read line 10/8
// launch: grid=1 block=64 out=zero
// In place: the other warp's element is read, and one's own written over, with no barrier between.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    out += n / 64;
    float other = out[t ^ 32];
    other = other * 2 + in[t];
    out[t] = other;
}
