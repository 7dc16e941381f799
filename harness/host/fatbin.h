/* PTX and machine code out of what nvcc embeds in a program: a "fat binary".
 *
 * Pure: bytes in, a place within them out, borrowed from the caller. Any bytes are safe to pass
 * where a length is given; a registered wrapper carries none, so its own header is believed.
 *
 * Compressed entries are not unpacked: Stride builds with -no-compress, so that is an error with a
 * sentence. */
#ifndef STRIDE_HOST_FATBIN_H
#define STRIDE_HOST_FATBIN_H

#include "harness/base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2 }; /* the format's own numbers */

struct fatbin_part {
    const void *bytes; /* PTX is not NUL-terminated; its padding is cut off */
    size_t len;
    unsigned arch; /* 90 */
};

/* The first part of this kind in a run of fat binaries, such as a section .nv_fatbin. False: there
 * is none, or the bytes are damaged, or it is compressed. */
bool fatbin_find(struct fatbin_part *out, enum fatbin_kind kind, const void *bytes, size_t len,
                 struct err *err);

/* The PTX behind the pointer that __cudaRegisterFatBinary is given; it lives as long as the object
 * that registered it. */
bool fatbin_find_ptx(struct fatbin_part *out, const void *wrapper, struct err *err);

/* The section .nv_fatbin of a 64-bit ELF file. False: there is none (a source without device code),
 * or it is no such file. */
bool fatbin_section(const void **out, size_t *out_len, const void *elf, size_t len,
                    struct err *err);

#endif
