/* Precompiled headers for labs whose kernels include much: <cuda/pipeline> alone takes NVRTC 0.8 s,
 * and 0.13 s when the child that waits has read it before (measured, NVRTC 13.0).
 *
 * A struct headers owns a folder below $TMPDIR for the image (some 130 MB) until headers_close;
 * folders that killed children left behind are removed at the next opening.
 *
 * Small headers are not worth it; where NVRTC is too old or the disk too full it stays off. */
#ifndef STRIDE_HARNESS_HEADERS_H
#define STRIDE_HARNESS_HEADERS_H

#include "nvrtc.h"

struct headers {
    char *folder; /* NULL when off */
};

/* Switches them on when `source`, the lab's solution, includes something large. */
void headers_open(struct headers *out, const struct compiler_abilities *nvrtc, const char *source);

/* Removes the image; compilations go on without it. */
void headers_close(struct headers *headers);

#endif
