/* CUB for one lab: kernels/LAB/cub.cu compiled by nvcc for this machine's card, once, while the
 * student reads.
 *
 * A struct cub_build owns the running compiler and the path of what it made; the object lies in the
 * cache (cache.h), where the next Stride finds it at once, or, where nothing can be written there,
 * in a folder that cub_build_stop removes.
 *
 * Nothing waits for it but cub_build_wait, and without it only CUB's time is missing.
 */
#ifndef STRIDE_HARNESS_CUB_BUILD_H
#define STRIDE_HARNESS_CUB_BUILD_H

#include "process.h"
#include "toolkit.h"

struct cub_build {
    char *object; /* NULL as long as it is not there */
    struct buf key;
    char *folder; /* where it is made; NULL when nothing runs */
    char *unkept; /* a folder like that whose object found no place in the cache; else NULL */
    struct process process;
    struct err err; /* why nothing runs and nothing is there; "" otherwise */
};

/* Looks into the cache and else starts nvcc for a card of capability `cc` (90). What is missing
 * for that stands in `err` of the build. */
void cub_build_start(struct cub_build *out, const struct toolkit *toolkit, const char *root,
                     const char *slug, unsigned cc);

/* Whether cub_build_wait has to wait. */
bool cub_build_is_running(const struct cub_build *build);

/* Waits at most so long. The object's path, borrowed; NULL when err says why there is none. A
 * compilation that takes longer is given up. */
const char *cub_build_wait(struct cub_build *build, double most_ms, struct err *err);

void cub_build_stop(struct cub_build *build);

#endif
