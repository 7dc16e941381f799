#include "lab.h"

// A scan in one pass: each tile tells the others its sum, and looks back
// for the sum of all before it. One thread looks at one tile at a time, and
// the tile itself is scanned in seven rounds with two barriers each.
extern "C" __global__ void __launch_bounds__(kScanThreads)
inclusiveScan(const unsigned *input, unsigned *output,
              unsigned long long *state)
{
    // >>> your code
    constexpr int kRows = kScanItems / 4;
    __shared__ unsigned sums[kScanThreads / 32], tileId, before;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    // A word per tile, state and value in one: 0 nothing yet, 1 the tile's
    // own sum, 2 the sum up to its end.
    volatile unsigned long long *word = state + 1;
    auto pack = [](unsigned long long what, unsigned value) {
        return what << 32 | value;
    };

    if (threadIdx.x == 0) // in the order in which blocks begin
        tileId = atomicAdd(reinterpret_cast<unsigned *>(state), 1);
    __syncthreads();
    const int tile = tileId;

    // A warp's elements are eight rows of 128, and a lane has four in a row
    // of each: whole sectors, and eight loads on their way at a time. No
    // cache needs to keep what is used only once.
    const size_t first =
        (size_t)tile * kScanTile + warp * 32 * kScanItems + 4 * lane;
    const uint4 *from = reinterpret_cast<const uint4 *>(&input[first]);
    uint4 v[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r)
        v[r] = __ldcs(&from[32 * r]);

    // Each lane's own four, then the lanes, all rows side by side: the next
    // row's shuffle need not wait for this one's.
    unsigned upTo[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        v[r].y += v[r].x;
        v[r].z += v[r].y;
        v[r].w += v[r].z;
        upTo[r] = v[r].w;
    }
#pragma unroll
    for (int reach = 1; reach < 32; reach *= 2) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            const unsigned below =
                __shfl_up_sync(0xffffffff, upTo[r], reach);
            upTo[r] += lane >= reach ? below : 0;
        }
    }
    unsigned rows = 0; // the rows before this one
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const unsigned row = __shfl_sync(0xffffffff, upTo[r], 31);
        upTo[r] += rows;
        rows += row;
    }
    if (lane == 0)
        sums[warp] = rows;
    __syncthreads(); // each warp's sum is there

    if (warp == 0) {
        const unsigned sum = lane < kScanThreads / 32 ? sums[lane] : 0;
        unsigned upToWarp = sum;
        for (int reach = 1; reach < kScanThreads / 32; reach *= 2) {
            const unsigned below =
                __shfl_up_sync(0xffffffff, upToWarp, reach);
            upToWarp += lane >= reach ? below : 0;
        }
        const unsigned total =
            __shfl_sync(0xffffffff, upToWarp, kScanThreads / 32 - 1);
        if (lane < kScanThreads / 32)
            sums[lane] = upToWarp - sum;
        if (lane == 0)
            word[tile] = pack(tile == 0 ? 2 : 1, total);

        // Look back at 32 tiles at a time, the nearest in lane 0, until one
        // of them knows the sum up to its end.
        unsigned found = 0;
        for (int near = tile - 1; near >= 0; near -= 32) {
            const int t = near - lane;
            unsigned long long seen;
            do
                seen = t >= 0 ? word[t] : pack(2, 0);
            while (__any_sync(0xffffffff, seen >> 32 == 0));
            const unsigned knows =
                __ballot_sync(0xffffffff, seen >> 32 == 2);
            const int last = knows ? __ffs(knows) - 1 : 31;
            unsigned part = lane <= last ? static_cast<unsigned>(seen) : 0;
            for (int offset = 16; offset > 0; offset /= 2)
                part += __shfl_xor_sync(0xffffffff, part, offset);
            found += part;
            if (knows)
                break;
        }
        if (lane == 0) {
            word[tile] = pack(2, found + total);
            before = found;
        }
    }
    __syncthreads(); // what stands before the tile and each warp is known

    const unsigned base = before + sums[warp];
    uint4 *to = reinterpret_cast<uint4 *>(&output[first]);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const unsigned b = base + upTo[r] - v[r].w;
        __stcs(&to[32 * r], make_uint4(b + v[r].x, b + v[r].y, b + v[r].z,
                                       b + v[r].w));
    }
    // <<< your code
}
