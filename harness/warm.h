/* What a child has ready before its job comes: the toolkit, the compiler, the GPU, and the lab's
 * own kernels compiled.
 *
 * A struct warm owns all of that and borrows the root's path. What the machine lacks is not a
 * failure: it is remembered with the reason, for the stage that will miss it.
 *
 * It runs no kernel. */
#ifndef STRIDE_HARNESS_WARM_H
#define STRIDE_HARNESS_WARM_H

#include "compile.h"
#include "prepared.h"

#include "harness/base/labfile.h"
#include "harness/lab.h"

struct host_warm;

struct warm {
    const char *root;
    struct labfile *about;
    struct host_warm *host; /* of a host lab, which has nothing else here; NULL for the others */
    const struct lab *lab;  /* NULL when the lab's device side is not part of this build */
    struct toolkit toolkit;
    struct compiler compiler;
    bool can_compile;
    struct err no_compiler; /* why not */
    struct backend *gpu;    /* NULL: no_gpu says why */
    struct err no_gpu;
    unsigned capability;                     /* of the GPU, 90; 0 without one */
    struct build baseline, solution, limits; /* zeroed when they could not be compiled */
    struct prepared prepared;                /* cases of the check on the GPU */
    struct cub_build *cub; /* for a lab with CUB as its peer, where there is a GPU; else NULL */
};

/* False when the lab itself is broken (its description, or a kernel of its own does not compile).
 */
bool warm_open(struct warm *out, const char *root, const char *slug, struct err *err);
void warm_close(struct warm *warm);

/* Whether there is a GPU and it has the lab's compute capability. */
bool warm_fits_gpu(const struct warm *warm);

/* Makes ready one more piece of what the job will need. False when there is nothing more to do; a
 * piece takes some ten milliseconds. */
bool warm_step(struct warm *warm);

/* Gives back what others could use while nothing is to do: the GPU, disk space. warm_take_gpu takes
 * the GPU again. */
void warm_relax(struct warm *warm);
void warm_take_gpu(struct warm *warm);

#endif
