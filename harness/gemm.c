#include "gemm.h"

#include <math.h>
#include <string.h>

enum { MOST = 16384 }; /* 1 GiB a matrix */

struct sizes {
    size_t m, n, k;
};

static struct sizes sizes_of(const struct lab_shape *shape)
{
    return (struct sizes){
        shape->args[3].value.u32,
        shape->args[4].value.u32,
        shape->args[5].value.u32,
    };
}

static struct lab_arg scalar(size_t value)
{
    return (struct lab_arg){.buffer = -1, .size = 4, .value = {.u32 = (uint32_t)value}};
}

bool gemm_shape(const struct gemm *gemm, struct lab_shape *out, uint64_t n)
{
    if (n < GEMM_TILE_M || n % GEMM_TILE_M != 0 || n > MOST)
        return false;
    bool cube = n >= 1024;
    size_t m = n, cols = cube ? n : n + GEMM_TILE_N, k = cube ? n : n + GEMM_K;
    *out = (struct lab_shape){
        .n = n,
        .grid = {(unsigned)(cols / GEMM_TILE_N), (unsigned)(m / GEMM_TILE_M), 1},
        .block = {gemm->threads, 1, 1},
        .dynamic_shared_bytes = gemm->shared_bytes,
        .buffers = {{"a", LAB_IN, LAB_F32, m * k},
                    {"b", LAB_IN, LAB_F32, k * cols},
                    {"c", LAB_OUT, LAB_F32, m * cols}},
        .buffer_count = 3,
        .args = {{.buffer = GEMM_A},
                 {.buffer = GEMM_B},
                 {.buffer = GEMM_C},
                 scalar(m),
                 scalar(cols),
                 scalar(k)},
        .arg_count = 6,
        .bytes_moved = 4.0 * ((double)(m * k) + (double)(k * cols) + (double)(m * cols)),
        .flops = 2.0 * (double)m * (double)cols * (double)k,
    };
    return true;
}

void gemm_fill(const struct gemm *gemm, const struct lab_shape *shape, int buffer, uint64_t seed,
               void *host)
{
    float *values = host;
    size_t count = shape->buffers[buffer].count;
    uint32_t start = (uint32_t)lab_mix(seed, (uint64_t)buffer);
    if (gemm->inputs == GEMM_TF32)
        LAB_EACH(i, count,
                 values[i] =
                     1.0f + (float)(int32_t)(lab_mix32(start, (uint32_t)i) >> 9) * 0x1p-23f);
    else
        LAB_EACH(i, count,
                 values[i] =
                     (float)((int32_t)((lab_mix32(start, (uint32_t)i) >> 16) * 17 >> 16) - 8));
}

/* Row by row, so that the inner loop runs along rows of B and C and becomes vector code. Products
 * of the exact inputs stay below 2^24 in float; the others are summed in double. */
static void multiply(const struct sizes *of, const float *restrict a, const float *restrict b,
                     float *restrict c)
{
    enum { WIDE = 64 }; /* columns at a time: N is a multiple of it */
    for (size_t row = 0; row < of->m; row++)
        for (size_t col = 0; col < of->n; col += WIDE) {
            double sums[WIDE] = {0};
            for (size_t k = 0; k < of->k; k++) {
                double left = a[row * of->k + k];
                const float *right = b + k * of->n + col;
                for (size_t j = 0; j < WIDE; j++)
                    sums[j] += left * (double)right[j];
            }
            for (size_t j = 0; j < WIDE; j++)
                c[row * of->n + col + j] = (float)sums[j];
        }
}

void gemm_reference(const struct lab_shape *shape, void *const host[], void *const want[])
{
    struct sizes of = sizes_of(shape);
    multiply(&of, host[GEMM_A], host[GEMM_B], want[GEMM_C]);
}

double gemm_element(const struct lab_shape *shape, void *const host[], size_t index)
{
    struct sizes of = sizes_of(shape);
    const float *a = (const float *)host[GEMM_A] + index / of.n * of.k;
    const float *b = (const float *)host[GEMM_B] + index % of.n;
    double sum = 0;
    for (size_t k = 0; k < of.k; k++)
        sum += (double)a[k] * (double)b[k * of.n];
    return sum;
}

/* TF32 keeps 10 bits behind the point. Rounding to it is off by 2^-12 of the value at random, which
 * averages out over K products; cutting off is 2^-11 too small on average, every time. The
 * tolerance lies between the two from K = 64 on. */
struct lab_tolerance gemm_tolerance(const struct gemm *gemm, const struct lab_shape *shape)
{
    if (gemm->inputs == GEMM_EXACT)
        return (struct lab_tolerance){.absolute = 0.25};
    double k = (double)sizes_of(shape).k;
    return (struct lab_tolerance){.relative = 1e-4 + 1.6e-3 / sqrt(k)};
}

struct lab_place gemm_locate(const struct lab_shape *shape, size_t index)
{
    struct sizes of = sizes_of(shape);
    size_t row = index / of.n, col = index % of.n;
    size_t in_row = row % GEMM_TILE_M, in_col = col % GEMM_TILE_N;
    return (struct lab_place){
        .block = {(unsigned)(col / GEMM_TILE_N), (unsigned)(row / GEMM_TILE_M), 0},
        .thread = {(unsigned)(in_row / 8 * 16 + in_col / 4), 0, 0},
        .tile = -1,
        .stage = -1,
    };
}
