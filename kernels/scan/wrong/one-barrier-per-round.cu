// verdict: hazard
// In the rounds of the block's scan sums are written while others still read them.
// verdict-gpu: wrong, pass (warps may run close enough together by luck)
#include "lab.h"

extern "C" __global__ void __launch_bounds__(kScanThreads)
inclusiveScan(const unsigned *input, unsigned *output,
              unsigned long long *state)
{
    // >>> your code
    __shared__ unsigned data[kScanTile], sums[kScanThreads], tileId, before;
    const int me = threadIdx.x;

    // A word per tile, state and value in one: 0 nothing yet, 1 the tile's
    // own sum, 2 the sum up to its end.
    volatile unsigned long long *word = state + 1;
    auto pack = [](unsigned long long what, unsigned value) {
        return what << 32 | value;
    };

    if (me == 0) // in the order in which blocks begin
        tileId = atomicAdd(reinterpret_cast<unsigned *>(state), 1);
    __syncthreads();
    const int tile = tileId;
    const size_t first = (size_t)tile * kScanTile;

    for (int i = me; i < kScanTile; i += kScanThreads)
        data[i] = input[first + i];
    __syncthreads(); // the tile is there

    // Each thread's own 32, then the 128 sums.
    unsigned own = 0;
    for (int i = 0; i < kScanItems; ++i)
        own += data[me * kScanItems + i];
    sums[me] = own;
    __syncthreads();
    for (int reach = 1; reach < kScanThreads; reach *= 2) {
        const unsigned below = me >= reach ? sums[me - reach] : 0;
        sums[me] += below;
        __syncthreads(); // everyone has written
    }

    if (me == 0) {
        const unsigned total = sums[kScanThreads - 1];
        word[tile] = pack(tile == 0 ? 2 : 1, total);
        unsigned found = 0;
        for (int t = tile - 1; t >= 0; --t) { // look back
            unsigned long long seen;
            do
                seen = word[t];
            while (seen >> 32 == 0);
            found += static_cast<unsigned>(seen);
            if (seen >> 32 == 2)
                break;
        }
        word[tile] = pack(2, found + total);
        before = found;
    }
    __syncthreads(); // what stands before this tile is known

    unsigned sum = before + sums[me] - own;
    for (int i = 0; i < kScanItems; ++i) {
        sum += data[me * kScanItems + i];
        data[me * kScanItems + i] = sum;
    }
    __syncthreads(); // the tile is scanned

    for (int i = me; i < kScanTile; i += kScanThreads)
        output[first + i] = data[i];
    // <<< your code
}
