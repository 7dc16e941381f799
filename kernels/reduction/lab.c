/* The lab reduction for the harness: one sum, exact in whatever order it is added up. */
#include "kernels/reduction/lab.h"

#include "harness/lab.h"

enum { INPUT, SUM };

static bool shape(struct lab_shape *out, uint64_t n)
{
    if (n < 1 || n > 1 << 30)
        return false;
    uint64_t blocks =
        (n + kReduceElementsPerBlock - 1) / kReduceElementsPerBlock;
    *out = (struct lab_shape){
        .n = n,
        .grid = {blocks < kReduceMostBlocks ? (unsigned)blocks
                                            : kReduceMostBlocks,
                 1, 1},
        .block = {kReduceThreads, 1, 1},
        .buffers = {{"input", LAB_IN, LAB_F32, n},
                    {"sum", LAB_INOUT, LAB_F32, 1}},
        .buffer_count = 2,
        .args = {{.buffer = INPUT},
                 {.buffer = SUM},
                 {.buffer = -1, .size = 4, .value = {.i32 = (int32_t)n}}},
        .arg_count = 3,
        .bytes_moved = 4.0 * (double)n,
        .flops = (double)n,
    };
    return true;
}

/* Odd, from -15 to 15: no element can be left out without a trace, and the partial sums of numbers
 * with either sign stay far below 2^24. */
static void fill(const struct lab_shape *of, int buffer, uint64_t seed,
                 void *host)
{
    float *values = host;
    uint32_t start = (uint32_t)lab_mix(seed, (uint64_t)buffer);
    if (buffer == SUM)
        values[0] = 0;
    else
        LAB_EACH(
            i, of->buffers[buffer].count,
            values[i] =
                (float)((int32_t)(lab_mix32(start, (uint32_t)i) >> 28) * 2 -
                        15));
}

static void reference(const struct lab_shape *of, void *const host[],
                      void *const want[])
{
    const float *input = host[INPUT];
    int64_t sum = 0;
    for (size_t i = 0; i < of->buffers[INPUT].count; i++)
        sum += (int64_t)input[i];
    *(float *)want[SUM] = (float)sum;
}

static struct lab_tolerance tolerance(const struct lab_shape *of,
                                      int buffer)
{
    (void)of;
    (void)buffer;
    return (struct lab_tolerance){.absolute = 0};
}

const struct lab lab_reduction = {
    .slug = "reduction",
    .peer = LAB_PEER_CUB,
    .shape = shape,
    .fill = fill,
    .reference = reference,
    .tolerance = tolerance,
};
