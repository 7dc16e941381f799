/* Labs that multiply matrices: C = A B, all row-major floats, blocks of 256 threads that each make
 * a 128 x 64 tile of C. They differ in what the student writes and in how exact the answer can be.
 *
 * A struct gemm is constant data of the lab's lab.c.
 *
 * Nothing here knows how tiles are staged or multiplied; that is the student's part. */
#ifndef STRIDE_HARNESS_GEMM_H
#define STRIDE_HARNESS_GEMM_H

#include "harness/lab.h"

enum gemm_inputs {
    GEMM_EXACT, /* small whole numbers: every sum is exact, in whatever order */
    GEMM_TF32,  /* positive numbers with more bits than TF32 keeps: rounding them is right, cutting
                   them off is a bias that grows out of the tolerance */
};

struct gemm {
    unsigned threads; /* per block */
    unsigned shared_bytes;
    enum gemm_inputs inputs;
};

enum { GEMM_A, GEMM_B, GEMM_C };                           /* buffers */
enum { GEMM_TILE_M = 128, GEMM_TILE_N = 64, GEMM_K = 32 }; /* M, N, K are multiples of these */

/* n is a multiple of 128. Up to 1,024 the three sizes differ (M = n, N = n + 64, K = n + 32), so
 * that a stride mixed up shows; from 1,024 on M = N = K = n. */
bool gemm_shape(const struct gemm *gemm, struct lab_shape *out, uint64_t n);
void gemm_fill(const struct gemm *gemm, const struct lab_shape *shape, int buffer, uint64_t seed,
               void *host);
void gemm_reference(const struct lab_shape *shape, void *const host[], void *const want[]);
double gemm_element(const struct lab_shape *shape, void *const host[], size_t index);
struct lab_tolerance gemm_tolerance(const struct gemm *gemm, const struct lab_shape *shape);

/* Block of an element, and the thread that makes it when thread (tx, ty) of 16 x 16 makes rows
 * 8 ty.. and columns 4 tx.. of the tile. */
struct lab_place gemm_locate(const struct lab_shape *shape, size_t index);

#define GEMM_LAB(symbol, name, gemm, library)                                                      \
    static bool shape(struct lab_shape *out, uint64_t n)                                           \
    {                                                                                              \
        return gemm_shape(&(gemm), out, n);                                                        \
    }                                                                                              \
    static void fill(const struct lab_shape *of, int buffer, uint64_t seed, void *host)            \
    {                                                                                              \
        gemm_fill(&(gemm), of, buffer, seed, host);                                                \
    }                                                                                              \
    static struct lab_tolerance tolerance(const struct lab_shape *of, int buffer)                  \
    {                                                                                              \
        (void)buffer;                                                                              \
        return gemm_tolerance(&(gemm), of);                                                        \
    }                                                                                              \
    static double element(const struct lab_shape *of, void *const host[], int buffer,              \
                          size_t index)                                                            \
    {                                                                                              \
        (void)buffer;                                                                              \
        return gemm_element(of, host, index);                                                      \
    }                                                                                              \
    static struct lab_place locate(const struct lab_shape *of, int buffer, size_t index)           \
    {                                                                                              \
        (void)buffer;                                                                              \
        return gemm_locate(of, index);                                                             \
    }                                                                                              \
    const struct lab symbol = {                                                                    \
        .slug = (name),                                                                            \
        .peer = (library),                                                                         \
        .shape = shape,                                                                            \
        .fill = fill,                                                                              \
        .reference = gemm_reference,                                                               \
        .element = element,                                                                        \
        .tolerance = tolerance,                                                                    \
        .locate = locate,                                                                          \
    };

#endif
