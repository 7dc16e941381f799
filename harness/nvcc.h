/* nvcc and ptxas as the compiler, where NVRTC is missing or broken. Much slower, same results.
 *
 * A struct nvcc borrows the toolkit's paths. Everything a compilation writes goes into a folder of
 * its own below $TMPDIR and is removed again.
 *
 * Kernels only: programs with a main, and shared objects, are not made here. */
#ifndef STRIDE_HARNESS_NVCC_H
#define STRIDE_HARNESS_NVCC_H

#include "nvrtc.h"
#include "toolkit.h"

struct nvcc {
    const char *nvcc, *ptxas;
    struct compiler_abilities abilities;
};

/* Asks nvcc for its version and architectures. */
bool nvcc_open(struct nvcc *out, const struct toolkit *toolkit, struct err *err);

/* As nvrtc_compile; `header` (may be NULL) becomes lab.h beside the source, `folders` are searched
 * for further headers. */
bool nvcc_compile(const struct nvcc *nvcc, struct compiler_output *out, const char *source,
                  const char *name, const char *header, const char *arch,
                  const char *const *folders, int folder_count, struct err *err);

/* Adds to a cache's key what decides what this nvcc makes of a source: the program itself and the
 * host compiler it would take. */
void nvcc_add_identity(struct buf *key, const char *nvcc);

/* Host compilers on PATH, "g++-12, g++"; for the sentence about one that is too new. free() it. */
char *nvcc_host_compilers(void);

#endif
