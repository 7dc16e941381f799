/* Labs whose blocks work through tiles of floats, one after the other: cp-async, memory-pipelines,
 * multi-stage. They differ in their constants and in what the student writes, not in what goes in
 * and comes out.
 *
 * A struct tiles is constant data of the lab's lab.c, which also gives the transform compiled from
 * its lab.h, so that the arithmetic stands in one place.
 *
 * Nothing here knows how tiles are copied; that is the student's part. */
#ifndef STRIDE_HARNESS_TILES_H
#define STRIDE_HARNESS_TILES_H

#include "harness/lab.h"

struct tiles {
    unsigned threads;         /* per block */
    unsigned tile_elements;   /* floats of one tile, a multiple of 1024 */
    unsigned tiles_per_block; /* consecutive tiles of one block */
    unsigned stages;          /* buffers of the solution: tile t lives in stage t % stages */
    unsigned shared_bytes;    /* dynamic shared memory of a block */
    unsigned flops;           /* of one element's transform */
    void (*transform)(const float *restrict in, float *restrict out, size_t count);
};

enum { TILES_INPUT, TILES_OUTPUT }; /* buffers, and the kernel's two parameters */

/* N must be a whole number of blocks. */
bool tiles_shape(const struct tiles *tiles, struct lab_shape *out, uint64_t n);

/* Multiples of 2^-21 in [-2, 2), any 2^23 in a row distinct and far from their neighbours: data of
 * another tile never pass for this one's. */
void tiles_fill(const struct lab_shape *shape, int buffer, uint64_t seed, void *host);

void tiles_reference(const struct tiles *tiles, const struct lab_shape *shape, void *const host[],
                     void *const want[]);

/* fmaf rounds once, here as there, so right answers are equal bit for bit. Two units in the last
 * place are allowed to whoever writes the same chain with other words. */
struct lab_tolerance tiles_tolerance(const struct lab_shape *shape, int buffer);

struct lab_place tiles_locate(const struct tiles *tiles, size_t index);

/* Defines `name`, a struct tiles's transform, over the lab.h's function for one element. The inner
 * loop has a constant length so that gcc makes vector code of it at -O2 too, and fmaf is a call
 * into libm where the compiler may not assume the instruction: 20 times slower. */
#define TILES_LOOP(element)                                                                        \
    for (size_t at = 0; at < count / 1024; at++)                                                   \
        for (size_t i = 0; i < 1024; i++)                                                          \
            out[at * 1024 + i] = element(in[at * 1024 + i]);
#if defined __x86_64__
#define TILES_TRANSFORM(name, element)                                                             \
    __attribute__((target("avx2,fma"))) static void name##_fma(const float *restrict in,           \
                                                               float *restrict out, size_t count)  \
    {                                                                                              \
        TILES_LOOP(element)                                                                        \
    }                                                                                              \
    static void name(const float *restrict in, float *restrict out, size_t count)                  \
    {                                                                                              \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))                       \
            name##_fma(in, out, count);                                                            \
        else                                                                                       \
            TILES_LOOP(element)                                                                    \
    }
#else
#define TILES_TRANSFORM(name, element)                                                             \
    static void name(const float *restrict in, float *restrict out, size_t count)                  \
    {                                                                                              \
        TILES_LOOP(element)                                                                        \
    }
#endif

/* Defines the lab itself from a struct tiles and a transform. */
#define TILES_LAB(symbol, name, tiles)                                                             \
    static bool shape(struct lab_shape *out, uint64_t n)                                           \
    {                                                                                              \
        return tiles_shape(&(tiles), out, n);                                                      \
    }                                                                                              \
    static void reference(const struct lab_shape *of, void *const host[], void *const want[])      \
    {                                                                                              \
        tiles_reference(&(tiles), of, host, want);                                                 \
    }                                                                                              \
    static struct lab_place locate(const struct lab_shape *of, int buffer, size_t index)           \
    {                                                                                              \
        (void)of;                                                                                  \
        (void)buffer;                                                                              \
        return tiles_locate(&(tiles), index);                                                      \
    }                                                                                              \
    const struct lab symbol = {                                                                    \
        .slug = (name),                                                                            \
        .shape = shape,                                                                            \
        .fill = tiles_fill,                                                                        \
        .reference = reference,                                                                    \
        .tolerance = tiles_tolerance,                                                              \
        .locate = locate,                                                                          \
    };

#endif
