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
    MATRIX_E4M3,
    MATRIX_E5M2,
    MATRIX_S4,
    MATRIX_U4,
    MATRIX_B1,
};

enum { MATRIX_REGS = 8 };

/* A fragment: its registers are the matrix `regs / copies` of them hold; wmma's f16 ones hold it
 * several times. */
struct fragment {
    uint8_t type; /* enum matrix_type */
    uint16_t rows, columns;
    uint8_t regs;              /* registers of the fragment */
    uint8_t used;              /* the first ones, which hold the whole matrix once */
    uint32_t reg[MATRIX_REGS]; /* offsets in the window */
};

struct matrix {
    struct fragment a, b, c, d; /* loads use d, stores c */
    uint8_t m, n;
    uint16_t k;
    bool by_columns; /* loads and stores: the matrix lies in memory column by column */
    bool transposed; /* ldmatrix.trans */
    bool saturates;
    bool by_and;     /* b1: a & b, else a ^ b */
    uint32_t stride; /* register offset; in elements */
};

static inline uint32_t matrix_type_bits(enum matrix_type type)
{
    switch (type) {
    case MATRIX_B1:
        return 1;
    case MATRIX_S4:
    case MATRIX_U4:
        return 4;
    case MATRIX_S8:
    case MATRIX_U8:
    case MATRIX_E4M3:
    case MATRIX_E5M2:
        return 8;
    case MATRIX_F16:
    case MATRIX_BF16:
        return 16;
    case MATRIX_F64:
        return 64;
    default:
        return 32;
    }
}

/* Of types that fill bytes. */
static inline uint32_t matrix_type_bytes(enum matrix_type type)
{
    return matrix_type_bits(type) / 8;
}

#endif
