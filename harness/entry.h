/* Whether a build has the kernel that the lab will launch, with the parameters it will pass.
 *
 * Signatures are owned by the caller; everything else is borrowed text.
 *
 * It reads PTX and source text by eye; it never runs anything. */
#ifndef STRIDE_HARNESS_ENTRY_H
#define STRIDE_HARNESS_ENTRY_H

#include "compile.h"

enum { ENTRY_PARAMS = 64 };

struct entry_params {
    size_t sizes[ENTRY_PARAMS]; /* bytes of each parameter, in order */
    int count;
};

/* The parameters of .entry `name`; false when the text has no such entry. */
bool entry_find(struct entry_params *out, const char *ptx, const char *name);

/* The declaration of `name` in a source: `extern "C" __global__ void k(float *out)`, on one line.
 * NULL when it isn't there; free() it. */
char *entry_signature(const char *source, const char *name);

/* The line, from 1, where `name` first stands as a whole word; 0 when it does not. */
unsigned entry_line(const char *source, const char *name);

/* Turns a build without the right entry into a failed one, with a complaint that says what is
 * expected. `model` is a build of the lab's own that has it. */
void entry_check(struct build *build, const char *name, const struct build *model);

#endif
