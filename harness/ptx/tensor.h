/* What the handlers of matrix operations share: all of the warp takes part, and a wmma fragment is
 * its registers one behind the other.
 *
 * For exec_tensor.c and exec_tensor_mem.c only; nothing is owned.
 *
 * It never looks at memory. */
#ifndef STRIDE_PTX_TENSOR_H
#define STRIDE_PTX_TENSOR_H

#include "harness/ptx/handlers.h"

#include "harness/ptx/control.h"
#include "harness/ptx/hazard.h"
#include "harness/ptx/matrix.h"

enum { MATRIX_BYTES = 1024 }; /* the largest fragment */

/* All lanes of the warp take part; lanes that are not there are reported. */
#define WARP_WIDE                                                                                  \
    const struct op *next_ = NULL;                                                                 \
    if (!collective_begin(w, op, FULL_MASK, &next_))                                               \
        return next_;                                                                              \
    if (unlikely(~w->live))                                                                        \
        hazard_absent_lane(w, op, FULL_MASK, ~w->live, 0);                                         \
    hazard_warp_collective(w, op, w->mask)

static inline u32 register_bytes(const struct fragment *f)
{
    return f->type == MATRIX_F64 ? 256 : 128;
}

static inline void gather_flat(const struct warp *w, const struct fragment *f, uint8_t *flat)
{
    u32 bytes = register_bytes(f), most = MATRIX_BYTES / bytes;
    for (u32 r = 0; r < f->used && r < most; r++)
        memcpy(flat + r * bytes, w->regs + f->reg[r], bytes);
}

#endif
