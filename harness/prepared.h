/* The inputs and right answers of a check, made while a warm child waits for its job: filling and
 * computing them takes longer than compiling and running the kernel.
 *
 * A struct prepared owns its host memory; what prepared_find returns is borrowed from it, and may
 * be read only. Memory that travels to or from the GPU is page-locked, and so belongs to the
 * backend: prepared_free comes before the backend is closed.
 *
 * Nothing of it is on the device before a check puts it there, and nothing depends on it: a check
 * that finds its case here gives the same record as one that makes everything itself. */
#ifndef STRIDE_HARNESS_PREPARED_H
#define STRIDE_HARNESS_PREPARED_H

#include "harness/backend.h"
#include "harness/lab.h"

enum { PREPARED_CASES = 32 };

struct prepared_case {
    uint64_t n, seed;
    struct lab_shape shape;
    void *host[LAB_BUFFERS];     /* what is filled, as it was */
    void *want[LAB_BUFFERS];     /* OUT and INOUT as they must become */
    double allowed[LAB_BUFFERS]; /* compare_allowance of those */
};

struct prepared {
    struct backend *backend;
    const struct lab *lab;
    struct prepared_case cases[PREPARED_CASES]; /* the first `ready` are made */
    unsigned count, ready;
    void *back[LAB_BUFFERS]; /* for what comes back from the GPU, guards included; may be NULL */
    size_t back_bytes[LAB_BUFFERS];
    size_t bytes, most_bytes;
};

/* Plans the cases that check_run will run for these sizes and this seed on this backend, largest
 * first and as far as most_bytes go; makes none yet. */
void prepared_plan(struct prepared *out, struct backend *backend, const struct lab *lab,
                   const uint64_t *sizes, unsigned size_count, uint64_t seed, size_t most_bytes);

/* Makes one more case. False when there is nothing more to make. */
bool prepared_step(struct prepared *prepared);

/* NULL when this case is not there; `prepared` may be NULL too. */
const struct prepared_case *prepared_find(const struct prepared *prepared,
                                          const struct lab_shape *shape, uint64_t seed);
void prepared_free(struct prepared *prepared);

#endif
