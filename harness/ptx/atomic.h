/* Atomic operations and the types they work on, as decode.c puts them into op->mode and op->vec.
 *
 * Plain lists; nothing is owned.
 *
 * Vector and 128-bit atomics are not in them. */
#ifndef STRIDE_PTX_ATOMIC_H
#define STRIDE_PTX_ATOMIC_H

enum atom_op {
    ATOM_ADD,
    ATOM_MIN,
    ATOM_MAX,
    ATOM_INC,
    ATOM_DEC,
    ATOM_AND,
    ATOM_OR,
    ATOM_XOR,
    ATOM_EXCH,
    ATOM_CAS,
};

enum atom_type {
    ATOM_B16,
    ATOM_B32,
    ATOM_U32,
    ATOM_S32,
    ATOM_B64,
    ATOM_U64,
    ATOM_S64,
    ATOM_F32,
    ATOM_F64,
    ATOM_F16,
    ATOM_BF16,
    ATOM_F16X2,
    ATOM_BF16X2,
};

#endif
