// expect: global-race line 10/9
// also: race-read-after-write race-write-after-write
// launch: grid=4 block=64 out=zero
// What is read plainly is no guess here: it is added, beside a cas of others on the same word.
extern "C" __global__ void kernel(const float *in, float *out, int n)
{
    int *word = reinterpret_cast<int *>(out);
    if (threadIdx.x == 0)
        atomicCAS(word, 0, (int)blockIdx.x + 1);
    int seen = word[0];
    if (threadIdx.x == 0)
        out[8 + blockIdx.x] = (float)seen;
}
