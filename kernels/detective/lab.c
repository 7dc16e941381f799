/* The lab detective for the harness: frames come out back to front and without their mean. All five
 * variants of the starter have this one job. */
#include "kernels/detective/lab.h"

#include "harness/lab.h"

enum { INPUT, OUTPUT };

/* No card has the memory for more; the bound keeps products in range. */
static const uint64_t MOST_BLOCKS = 1u << 24;

static bool shape(struct lab_shape *out, uint64_t n)
{
    uint64_t blocks = n / kFrameSamplesPerBlock;
    if (blocks == 0 || n % kFrameSamplesPerBlock != 0 ||
        blocks > MOST_BLOCKS)
        return false;
    *out = (struct lab_shape){
        .n = n,
        .grid = {(unsigned)blocks, 1, 1},
        .block = {kFrameThreads, 1, 1},
        .buffers = {{"input", LAB_IN, LAB_F32, n},
                    {"output", LAB_OUT, LAB_F32, n}},
        .buffer_count = 2,
        .args = {{.buffer = INPUT}, {.buffer = OUTPUT}},
        .arg_count = 2,
        .bytes_moved = 2.0 * sizeof(float) * (double)n,
        .flops = 2.0 * (double)n,
    };
    return true;
}

/* Whole numbers in [-4096, 4096): a frame's sum stays below 2^22, its mean has 10 bits behind the
 * point and a difference needs 24 bits at most, so every step is exact in float. Two rounds of
 * mixing, since with a plain stride all frames would have nearly the same mean. */
static void fill(const struct lab_shape *of, int buffer, uint64_t seed,
                 void *host)
{
    float *values = host;
    uint32_t start = (uint32_t)lab_mix(seed, (uint64_t)buffer);
    for (size_t i = 0; i < of->buffers[buffer].count; i++) {
        uint32_t mixed = (uint32_t)i * 0x9e3779b1u + start;
        mixed = (mixed ^ mixed >> 15) * 0x85ebca6bu;
        values[i] = (float)((int32_t)(mixed >> 19) - 4096);
    }
}

static void reference(const struct lab_shape *of, void *const host[],
                      void *const want[])
{
    for (size_t frame = 0; frame < of->n / kFrameSamples; frame++) {
        const float *in =
            (const float *)host[INPUT] + frame * kFrameSamples;
        float *out = (float *)want[OUTPUT] + frame * kFrameSamples;
        int32_t sum = 0;
        for (size_t i = 0; i < kFrameSamples; i++)
            sum += (int32_t)in[i];
        float mean = (float)sum / kFrameSamples;
        for (size_t i = 0; i < kFrameSamples; i++)
            out[kFrameSamples - 1 - i] = in[i] - mean;
    }
}

static struct lab_tolerance tolerance(const struct lab_shape *of,
                                      int buffer)
{
    (void)of;
    (void)buffer;
    return (struct lab_tolerance){.absolute = 0};
}

static struct lab_place locate(const struct lab_shape *of, int buffer,
                               size_t index)
{
    (void)of;
    (void)buffer;
    int frame = (int)(index % kFrameSamplesPerBlock / kFrameSamples);
    return (struct lab_place){
        .block = {(unsigned)(index / kFrameSamplesPerBlock), 0, 0},
        .thread = {(unsigned)(index % kFrameThreads), 0, 0},
        .tile = frame,
        .stage = frame % 2,
    };
}

const struct lab lab_detective = {
    .slug = "detective",
    .shape = shape,
    .fill = fill,
    .reference = reference,
    .tolerance = tolerance,
    .locate = locate,
};
