/* The harness's side of one host lab: what its functions are called, what they get, what must come
 * out. Each lab's kernels/SLUG/host.c fills one struct host_lab; kernels/host-labs.def lists them.
 *
 * The student's functions share one struct (kernels/SLUG/lab.h, C and C++) with it: `work`, zeroed
 * by the harness, `work_bytes` long. Host and device memory in it belong to the student's
 * functions.
 *
 * A host lab calls no function of the CUDA runtime and measures no time; trial.c does. */
#ifndef STRIDE_HOST_LAB_H
#define STRIDE_HOST_LAB_H

#include "harness/base/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_round {
    uint64_t n, seed;
    unsigned round; /* from 0; each has other inputs */
};

/* What judge() found. verdict is PASS or WRONG. Where one element is wrong, `buffer` names it. */
struct host_finding {
    enum verdict verdict;
    const char *buffer; /* static; NULL when no single element is to blame */
    size_t index, wrong_count, checked_count;
    double want, got, max_error, tolerance;
    char text[320]; /* one sentence: the pattern, or what is wrong with a report */
};

struct host_lab {
    const char *slug;
    const char *open, *run, *close; /* exported by kernel.cu with C linkage */
    size_t work_bytes;
    unsigned rounds; /* per case, 2 or more */
    /* Before open: problem size, and the host inputs that the harness itself owns, if any. False
     * when there is no such size. */
    bool (*prepare)(void *work, const struct host_round *first);
    /* After open, before each run: inputs filled, outputs poisoned with NaN. False (with a
     * sentence) when open left out something, e.g. a host pointer. */
    bool (*fill)(void *work, const struct host_round *round, char *why, size_t why_len);
    /* After each run and a wait for the device. `solution` is the solution's work after the same
     * round. */
    void (*judge)(const void *work, const void *solution, const struct host_round *round,
                  struct host_finding *out);
    /* After close: what prepare allocated. May be NULL. */
    void (*release)(void *work);
    double (*bytes_moved)(
        uint64_t n); /* over the bus, both directions, by one run; for the limit */
};

const struct host_lab *host_lab_find(const char *slug); /* NULL when there is none */

#endif
