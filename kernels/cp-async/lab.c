/* The lab cp-async for the harness: shape, inputs and right answers. lab.h holds the arithmetic. */
#include "kernels/cp-async/lab.h"

#include "harness/lab.h"

enum { BUFFER_INPUT, BUFFER_OUTPUT };

/* No card has the memory for more; the bound keeps products in range. */
static const uint64_t MOST_BLOCKS = 1u << 24;

static bool shape(struct lab_shape *out, uint64_t n)
{
    uint64_t blocks = n / kAsyncElementsPerBlock;
    if (blocks == 0 || n % kAsyncElementsPerBlock != 0 || blocks > MOST_BLOCKS)
        return false;
    *out = (struct lab_shape){
        .n = n,
        .grid = {(unsigned)blocks, 1, 1},
        .block = {kAsyncThreadsPerBlock, 1, 1},
        .buffers = {{"input", LAB_IN, LAB_F32, n}, {"output", LAB_OUT, LAB_F32, n}},
        .buffer_count = 2,
        .args = {{.buffer = BUFFER_INPUT}, {.buffer = BUFFER_OUTPUT}},
        .arg_count = 2,
        .bytes_moved = 2.0 * sizeof(float) * (double)n,
        .flops = 2.0 * kAsyncTransformSteps * (double)n,
    };
    return true;
}

/* Multiples of 2^-21 in [-2, 2). The multiplier is odd, so any 2^23 elements in a row are distinct,
 * and far from their neighbours: data of another tile never pass for this one's. */
static void fill(const struct lab_shape *of, int buffer, uint64_t seed, void *host)
{
    float *values = host;
    uint32_t start = (uint32_t)lab_mix(seed, (uint64_t)buffer);
    for (size_t i = 0; i < of->buffers[buffer].count; i++) {
        uint32_t mixed = ((uint32_t)i * 0x9e3779b1u + start) & 0x7fffffu;
        values[i] = (float)((int32_t)mixed - 0x400000) * 0x1p-21f;
    }
}

/* Loops of constant length, so that gcc turns them into vector code at -O2 as well. */
#define TRANSFORM_BLOCKS(in, out, blocks)                                                          \
    for (size_t block = 0; block < (blocks); block++)                                              \
        for (size_t i = 0; i < kAsyncElementsPerBlock; i++)                                        \
            (out)[block * kAsyncElementsPerBlock + i] =                                            \
                asyncTransform((in)[block * kAsyncElementsPerBlock + i]);

static void transform(const float *restrict in, float *restrict out, size_t blocks)
{
    TRANSFORM_BLOCKS(in, out, blocks)
}

#if defined __x86_64__
/* fmaf is a call into libm where the compiler may not assume the instruction: 20 times slower. */
__attribute__((target("avx2,fma"))) static void transform_fma(const float *restrict in,
                                                              float *restrict out, size_t blocks)
{
    TRANSFORM_BLOCKS(in, out, blocks)
}
#endif

static void reference(const struct lab_shape *of, void *const host[], void *const want[])
{
    size_t blocks = of->buffers[BUFFER_INPUT].count / kAsyncElementsPerBlock;
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        transform_fma(host[BUFFER_INPUT], want[BUFFER_OUTPUT], blocks);
        return;
    }
#endif
    transform(host[BUFFER_INPUT], want[BUFFER_OUTPUT], blocks);
}

/* fmaf rounds once, here as there, so right answers are equal bit for bit. Two units in the last
 * place are allowed to whoever writes the same chain with other words. */
static struct lab_tolerance tolerance(const struct lab_shape *of, int buffer)
{
    (void)of;
    (void)buffer;
    return (struct lab_tolerance){.absolute = 0x1p-23, .relative = 0x1p-22};
}

static struct lab_place locate(const struct lab_shape *of, int buffer, size_t index)
{
    (void)of;
    (void)buffer;
    size_t in_block = index % kAsyncElementsPerBlock;
    int tile = (int)(in_block / kAsyncTileElements);
    return (struct lab_place){
        .block = {(unsigned)(index / kAsyncElementsPerBlock), 0, 0},
        .thread = {(unsigned)(in_block % kAsyncThreadsPerBlock), 0, 0},
        .tile = tile,
        .stage = tile % 2,
    };
}

const struct lab lab_cp_async = {
    .slug = "cp-async",
    .shape = shape,
    .fill = fill,
    .reference = reference,
    .tolerance = tolerance,
    .locate = locate,
};
