/* Types that cvt converts between, as decode.c puts them into op->mode and op->mode2.
 *
 * A plain list; owns nothing.
 *
 * Packed and 8-bit types are not in it: their forms have handlers of their own. */
#ifndef STRIDE_PTX_CONVERT_H
#define STRIDE_PTX_CONVERT_H

enum cvt_type {
    CVT_U8,
    CVT_S8,
    CVT_U16,
    CVT_S16,
    CVT_U32,
    CVT_S32,
    CVT_U64,
    CVT_S64,
    CVT_F16,
    CVT_BF16,
    CVT_F32,
    CVT_F64,
};

#endif
