/* The lab first-kernel for the harness: whole numbers, so that the answer is exact whether or not
 * the compiler makes one operation of the multiplication and the addition. */
#include "kernels/first-kernel/lab.h"

#include "harness/lab.h"

enum { X, Y };
enum { A, N = 3 }; /* parameters: a, x, y, n */

static bool shape(struct lab_shape *out, uint64_t n)
{
    if (n < 1 || n > INT32_MAX - kSaxpyMostBlocks * kSaxpyThreadsPerBlock)
        return false; /* so that i + stride stays an int */
    uint64_t blocks =
        (n + kSaxpyElementsPerBlock - 1) / kSaxpyElementsPerBlock;
    *out = (struct lab_shape){
        .n = n,
        .grid = {blocks < kSaxpyMostBlocks ? (unsigned)blocks
                                           : kSaxpyMostBlocks,
                 1, 1},
        .block = {kSaxpyThreadsPerBlock, 1, 1},
        .buffers = {{"x", LAB_IN, LAB_F32, n},
                    {"y", LAB_INOUT, LAB_F32, n}},
        .buffer_count = 2,
        .args = {[A] = {.buffer = -1,
                        .size = 4,
                        .value = {.f32 = (float)(3 + n % 4)}},
                 {.buffer = X},
                 {.buffer = Y},
                 [N] = {.buffer = -1,
                        .size = 4,
                        .value = {.i32 = (int32_t)n}}},
        .arg_count = 4,
        .bytes_moved = 12.0 * (double)n,
        .flops = 2.0 * (double)n,
    };
    return true;
}

/* From 1 on, so that adding a * x always changes y; below 2^20, so that every step is exact. */
static void fill(const struct lab_shape *of, int buffer, uint64_t seed,
                 void *host)
{
    float *values = host;
    uint32_t start = (uint32_t)lab_mix(seed, (uint64_t)buffer);
    LAB_EACH(
        i, of->buffers[buffer].count,
        values[i] =
            (float)(int32_t)((lab_mix32(start, (uint32_t)i) >> 12) | 1));
}

static void reference(const struct lab_shape *of, void *const host[],
                      void *const want[])
{
    const float *restrict x = host[X], *restrict y = host[Y];
    float *restrict result = want[Y], a = of->args[A].value.f32;
    LAB_EACH(i, of->buffers[Y].count, result[i] = a * x[i] + y[i]);
}

static struct lab_tolerance tolerance(const struct lab_shape *of,
                                      int buffer)
{
    (void)of;
    (void)buffer;
    return (struct lab_tolerance){.absolute = 0};
}

/* The thread that a grid-stride loop gives the element to. */
static struct lab_place locate(const struct lab_shape *of, int buffer,
                               size_t index)
{
    (void)buffer;
    return (struct lab_place){
        .block = {(unsigned)(index / kSaxpyThreadsPerBlock % of->grid[0]),
                  0, 0},
        .thread = {(unsigned)(index % kSaxpyThreadsPerBlock), 0, 0},
        .tile = -1,
        .stage = -1,
    };
}

const struct lab lab_first_kernel = {
    .slug = "first-kernel",
    .shape = shape,
    .fill = fill,
    .reference = reference,
    .tolerance = tolerance,
    .locate = locate,
};
