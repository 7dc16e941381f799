/* A loaded module: its variables with their contents.
 *
 * The image owns the bytes; the module must outlive it. Launches borrow it.
 *
 * It is not locked: two launches of one image at the same time are the caller's race, as they are
 * on a device. */
#ifndef STRIDE_PTX_IMAGE_H
#define STRIDE_PTX_IMAGE_H

#include "harness/ptx/ptx.h"

struct ptx_image {
    const struct ptx_module *module;
    uint8_t *constants;       /* constant_bytes */
    uint8_t *globals;         /* global_bytes */
    struct ptx_memory *items; /* one per .global variable */
    size_t item_count;
};

#endif
