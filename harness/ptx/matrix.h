/* Matrix operations: what wmma, mma.sync, ldmatrix and their kin have in their op->extra.
 *
 * A plain record, made by lower_matrix.c in the module's arena and read by exec_tensor.c.
 *
 * PTX leaves open which thread of a warp holds which element of a wmma fragment. Here a fragment's
 * registers, one behind the other, are the matrix in row-major order, whatever its layout in
 * memory: no lane moves anything. mma.sync and ldmatrix have the layouts that the ISA fixes. */
#ifndef STRIDE_PTX_MATRIX_H
#define STRIDE_PTX_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

enum matrix_type {
    MATRIX_F16,
    MATRIX_BF16,
    MATRIX_TF32,
    MATRIX_F32,
    MATRIX_F64,
    MATRIX_S8,
    MATRIX_U8,
    MATRIX_S32,
};

enum { MATRIX_REGS = 8 };

/* A fragment: its registers are the matrix `regs / copies` of them hold; wmma's f16 ones hold it
 * several times. */
struct fragment {
    uint8_t type; /* enum matrix_type */
    uint8_t rows, columns;
    uint8_t regs;              /* registers of the fragment */
    uint8_t used;              /* the first ones, which hold the whole matrix once */
    uint32_t reg[MATRIX_REGS]; /* offsets in the window */
};

struct matrix {
    struct fragment a, b, c, d; /* loads use d, stores c */
    uint8_t m, n, k;
    bool by_columns; /* loads and stores: the matrix lies in memory column by column */
    bool transposed; /* ldmatrix.trans */
    bool saturates;
    uint32_t stride; /* register offset; in elements */
};

static inline uint32_t matrix_type_bytes(enum matrix_type type)
{
    switch (type) {
    case MATRIX_S8:
    case MATRIX_U8:
        return 1;
    case MATRIX_F16:
    case MATRIX_BF16:
        return 2;
    case MATRIX_F64:
        return 8;
    default:
        return 4;
    }
}

#endif
